use super::*;

fn count(pixels: &io::Result<Vec<u8>>, RGBColor(red, green, blue): RGBColor) -> f64 {
    let pixels = pixels.as_ref().unwrap();
    assert_eq!(pixels.len() as u32, 3 * SIZE[0] * SIZE[1]);
    pixels.chunks(3).filter(|pixel| *pixel == [red, green, blue]).count() as f64
}

/// Pixels of the coloured square of a series in the legend.
const SQUARE: f64 = (SWATCH * SWATCH / SCALE / SCALE) as f64;

#[test]
fn every_point_is_drawn() {
    let dots = |n: usize| (1..=n).map(|i| [i as f64, (i * i) as f64]).collect();
    let pixels = |n: usize| {
        let series = vec![Series::dots("one", dots(n)), Series::line("other", vec![[1.0, 9.0], [5.0, 9.0]])];
        Plot::new("title", [("x", true), ("y", true)], series).pixels()
    };
    // The full pixels of a disc. Pixels at the edge of the disc are paler.
    let one = count(&pixels(1), colour(0)) - SQUARE;
    assert!((25.0..55.0).contains(&one), "{one}");
    let five = (count(&pixels(5), colour(0)) - SQUARE) / 5.0;
    assert!((0.85..1.15).contains(&(five / one)), "{five} instead of {one}");
    assert!(count(&pixels(5), colour(1)) > SQUARE + 400.0, "no line");
    let empty = Plot::new("", [("", false), ("", true)], Vec::new()).pixels();
    assert!(count(&empty, GRID) > 1000.0);
}

#[test]
fn every_bar_is_drawn() {
    let group = |numbers: [Option<f64>; 2]| Group { name: "g".into(), numbers: numbers.into() };
    let bars = |stacked, log| Bars {
        title: "t".into(),
        label: "%".into(),
        parts: vec!["a".into(), "b".into()],
        groups: vec![group([Some(1.0), Some(3.0)]), group([None, Some(2.0)])],
        stacked,
        log,
    };
    for stacked in [true, false] {
        let drawn = bars(stacked, false).pixels();
        let ratio = (count(&drawn, colour(1)) - SQUARE) / (count(&drawn, colour(0)) - SQUARE);
        assert!((4.9..5.1).contains(&ratio), "3 and 2 beside 1: {ratio}");
    }
    // The logarithmic axis goes from 0.5 to 5, so the heights of the bars are log 6, log 4 and log
    // 2.
    let drawn = bars(false, true).pixels();
    let ratio = (count(&drawn, colour(1)) - SQUARE) / (count(&drawn, colour(0)) - SQUARE);
    assert!((4.5..4.7).contains(&ratio), "{ratio}");
}

#[test]
fn long_names_lose_their_middle() {
    let mut wide = 0;
    let mut short = String::new();
    paint(|picture| {
        short = fitted(picture, "bundle-adjustment:1200x98000x5", 100 * SCALE);
        wide = width(picture, &short);
        assert_eq!(fitted(picture, "short", 100 * SCALE), "short");
        Ok(())
    })
    .unwrap();
    assert!(short.starts_with("bund") && short.contains('…') && short.ends_with("0x5"), "{short}");
    assert!((75 * SCALE..=100 * SCALE).contains(&wide), "{wide}");
}

#[test]
fn squares_become_their_mean() {
    let side = SCALE as usize;
    let left = [9, 0, 255].repeat(side * (side - 1));
    let mut pixels: Vec<u8> = left.chunks(3 * side).flat_map(|row| [row, &[255; 3].repeat(side)].concat()).collect();
    pixels.extend([0; 3].repeat(2 * side));
    let part = |number: usize| (number * (side - 1) / side) as u8;
    let of_both = [part(9), 0, part(255), part(255), part(255), part(255)];
    assert_eq!(smaller(&pixels, 2 * side), of_both);
    // Squares of pixels that are equal to the square above or on the left are copied.
    let rows = [&pixels[..], &pixels, &[7; 6].repeat(side * side), &pixels].concat();
    assert_eq!(smaller(&rows, 2 * side), [&of_both[..], &of_both, &[7; 6], &of_both].concat());
}
