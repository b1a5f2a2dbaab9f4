//! Compressed files and archives as collections offer them, and files that differ slightly from
//! their format.
use super::*;
use flate2::{Compression, write::GzEncoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::Write;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap()
}

fn archive(members: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, text) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        archive.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap()
}

#[test]
fn archives_of_the_suitesparse_collection_are_read() {
    let desk = Desk::with([("s.mtx", SQUARE)]);
    let rhs = "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n";
    let members = [("square/square_b.mtx", rhs), ("square/notes.txt", "notes"), ("square/square.mtx", SQUARE)];
    let plain = archive(&members);
    for (name, bytes) in [
        ("square.tar", plain.clone()),
        ("square.tar.gz", gzip(&plain)),
        ("square.tgz", gzip(&plain)),
        ("square.tar.zst", compress_to_vec(&plain[..], CompressionLevel::Fastest)),
        ("renamed.tar.gz", gzip(&plain)),
    ] {
        std::fs::write(desk.path(name), bytes).unwrap();
        desk.ok(&format!("compare {name} s.mtx"));
    }
    let info = desk.ok("info square.tar.gz --json -q").stdout;
    assert!(info.contains(r#""format":"matrix-market""#) && info.contains(r#""file":"square.tar.gz""#), "{info}");
    let mut piped = desk.command("transpose - -o - -q");
    piped.write_stdin(gzip(&plain));
    assert_eq!(ran(piped).stdout, desk.ok("transpose s.mtx -o - -q").stdout);
    std::fs::write(desk.path("two.tar"), archive(&[("a.mtx", SQUARE), ("b.mtx", WIDE)])).unwrap();
    desk.fails(
        "info two.tar",
        2,
        &["two.tar: the archive: which of its files is the matrix? it has \"a.mtx\", \"b.mtx\""],
    );
    let cut = gzip(&plain);
    std::fs::write(desk.path("cut.tar.gz"), &cut[..cut.len() - 20]).unwrap();
    desk.fails("info cut.tar.gz", 2, &["cut.tar.gz: the archive: it is cut off"]);
}

#[test]
fn zstd_is_read_for_matrices_and_problems() {
    let desk = Desk::new();
    let zstd = |name: &str| {
        let bytes = compress_to_vec(&std::fs::read(desk.path(name)).unwrap()[..], CompressionLevel::Fastest);
        std::fs::write(desk.path(&format!("{name}.zst")), bytes).unwrap();
    };
    desk.put("s.mtx", SQUARE);
    zstd("s.mtx");
    desk.ok("compare s.mtx s.mtx.zst");
    desk.ok("generate g2o --poses 20 --closures 5 -o p.g2o -q");
    zstd("p.g2o");
    desk.ok("hessian p.g2o --write H=a.mtx -q");
    desk.ok("hessian p.g2o.zst --write H=b.mtx -q");
    desk.ok("compare a.mtx b.mtx");
}

/// networkrepository.com writes one percent sign, but the format requires two.
#[test]
fn a_banner_with_one_percent_sign_is_read_with_a_warning() {
    let desk = Desk::new();
    desk.put("s.mtx", SQUARE);
    desk.put("n.mtx", &SQUARE[1..]);
    desk.put("n.txt", &SQUARE[1..]);
    for line in ["compare n.mtx s.mtx", "transpose n.mtx -o t.mtx", "info n.mtx", "multiply n.mtx --device reference"] {
        let said = desk.ok(line).stderr;
        assert!(
            said.contains("warning: n.mtx:1: the banner begins with one % where the format has two"),
            "{line}: {said}"
        );
    }
    assert_eq!(desk.ok("compare n.txt s.mtx -q").stderr, "");
    if let Some(folder) = common::data("malformed") {
        let info = desk.ok(&format!("info {} --json -q", folder.join("nr-bio-dmela.mtx").display())).stdout;
        assert!(info.contains(r#""stored":25569"#), "{info}");
    }
}
