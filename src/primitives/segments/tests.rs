use super::*;
use crate::device::test_device;

/// The starts of all pieces, and the first piece of each segment.
fn pieces_of(segments: &Segments) -> Result<[Vec<u32>; 2]> {
    let work = Work::new(&test_device(), None);
    Ok([segments.pieces.begin.download(&work)?, segments.pieces.piece_ptr.download(&work)?])
}

#[test]
fn flags_and_bits_give_the_segments_of_their_offsets() -> Result<()> {
    let device = test_device();
    // The numbers of elements lie around a word of 32 bits, and around 2048 words, which are a tile
    // of a GPU's scan. The last element has a flag, or no element has one.
    for n in [0, 1, 2, 31, 32, 33, 64, 5000, 65_504, 65_537] {
        for every in [1, 3, 64, n.max(2) - 1, n + 1] {
            let flags: Vec<u8> = (0..n).map(|i| if i % every == every - 1 { 128 } else { 0 }).collect();
            let heads = (0..n as u32).filter(|&i| i == 0 || flags[i as usize] != 0);
            let offsets: Vec<u32> = heads.chain([n as u32]).collect();
            let want = pieces_of(&Segments::from_offsets(&device, &offsets)?)?;
            let found = Segments::from_flags(&device.upload_vector(&flags)?)?;
            assert_eq!(pieces_of(&found)?, want, "{n} elements, heads every {every}");
            assert_eq!((found.count(), found.elements()), (offsets.len() - 1, n));

            // Bits beyond the elements are set.
            let bit = |word: usize, i: usize| flags.get(32 * word + i).is_none_or(|&flag| flag != 0);
            let word = |word| (0..32).map(|i| u32::from(bit(word, i)) << i).sum();
            let bits: Vec<u32> = (0..n.div_ceil(32)).map(word).collect();
            let found = Segments::from_bits(&device.upload_vector(&bits)?, n)?;
            assert_eq!(pieces_of(&found)?, want, "{n} elements, bits every {every}");
            assert_eq!((found.count(), found.elements()), (offsets.len() - 1, n));
        }
    }
    Ok(())
}

#[test]
fn rows_give_the_segments_of_their_offsets() -> Result<()> {
    let device = test_device();
    // There are empty rows at both ends and between other rows, no rows, or only rows without
    // elements.
    for lengths in [&[0, 0, 3, 1, 0, 1025, 0, 64, 2049, 0][..], &[1], &[], &[0, 0, 0], &[70_000, 0, 1]] {
        let mut offsets = vec![0];
        lengths.iter().for_each(|length| offsets.push(offsets[offsets.len() - 1] + length));
        let rows: Vec<u32> = (0u32..).zip(lengths).flat_map(|(row, &length)| (0..length).map(move |_| row)).collect();
        let found = Segments::from_rows(&device.upload_vector(&rows)?, lengths.len())?;
        assert_eq!(pieces_of(&found)?, pieces_of(&Segments::from_offsets(&device, &offsets)?)?, "{lengths:?}");
        assert_eq!((found.count(), found.elements()), (lengths.len(), rows.len()));
    }
    Ok(())
}

#[test]
fn wrong_rows_are_refused_with_their_numbers() -> Result<()> {
    let device = test_device();
    let mut far = vec![0u32; 5000];
    (far[4000], far[4500]) = (2, 9);
    for (rows, why) in [
        (&[7u32][..], "element 0 has row 7, there are 3 rows"),
        (&[0, 1, 3, 2], "element 2 has row 3, there are 3 rows"),
        (&[0, 2, 1, 0], "element 2 has row 1, the element before it row 2: rows must ascend"),
        (&far, "element 4001 has row 0, the element before it row 2: rows must ascend"),
    ] {
        let error = Segments::from_rows(&device.upload_vector(rows)?, 3).unwrap_err();
        assert!(matches!(&error, Error::Argument(text) if text == why), "{error}");
    }
    assert!(Segments::from_rows(&device.upload_vector(&[0])?, 0).is_err());
    Ok(())
}

#[test]
fn words_must_be_as_many_as_the_elements_need() -> Result<()> {
    let two = test_device().upload_vector(&[0u32; 2])?;
    for elements in [0, 32, 65] {
        let error = Segments::from_bits(&two, elements).unwrap_err();
        assert!(matches!(error, Error::Length { array: "bits", found: 2, .. }), "{error}");
    }
    assert_eq!(Segments::from_bits(&two, 33)?.count(), 1);
    Ok(())
}

#[test]
fn wrong_offsets_are_refused_with_their_numbers() {
    let device = test_device();
    for (offsets, why) in [
        (&[][..], "there are no offsets"),
        (&[1, 2], "offsets begin at 1, not at 0"),
        (&[0, 5, 3, 9], "segment 1 begins at 5 and ends at 3"),
    ] {
        let error = Segments::from_offsets(&device, offsets).unwrap_err();
        assert!(matches!(&error, Error::Argument(text) if text.contains(why)), "{offsets:?}: {error}");
    }
    for end in [MOST + 1, u32::MAX] {
        let error = Segments::from_offsets(&device, &[0, end]).unwrap_err();
        assert!(matches!(error, Error::TooLarge { limit: 0xffff_efff, .. }), "{error}");
    }
}
