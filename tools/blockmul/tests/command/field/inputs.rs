use super::{super::*, case};

#[test]
fn what_editors_and_other_programs_write_is_read() {
    let desk = Desk::new();
    for (name, command, said) in [
        ("unsigned-integer.mtx", "info", "integer"),
        ("byte-order-mark.mtx", "info", "matrix-market"),
        ("byte-order-mark.g2o", "solve", "converged"),
        ("diags.npz", "info", "npz"),
        ("download.zip", "info", "matrix-market"),
    ] {
        let Some(path) = case(name) else { return };
        let ran = desk.ok(&format!("{command} {path}"));
        assert!(ran.stdout.contains(said), "{name}: {}", ran.stdout);
    }
}

#[test]
fn entries_that_repeat_are_refused_with_the_option_that_helps() {
    let Some(path) = case("assembled-duplicates.npz") else { return };
    let desk = Desk::new();
    desk.fails(&format!("multiply {path}"), 2, &["--sum-duplicates"]);
    desk.ok(&format!("multiply {path} --sum-duplicates"));
}

#[test]
fn values_beyond_32_bits_are_told_of() {
    let Some(path) = case("product-beyond-32-bits.mtx") else { return };
    let desk = Desk::new();
    let said = desk.ok(&format!("multiply {path} --element u32 -q")).stderr;
    assert!(said.contains("values of C may have wrapped around: u32 ends at 4294967295"), "{said}");
    let said = desk.ok(&format!("multiply {path} --element u32 -q --verify")).stderr;
    assert_eq!(said, "warning: 2 of 3 values of C have wrapped around: their sums are too large for u32\n");
    assert_eq!(desk.ok(&format!("multiply {path} -q")).stderr, "");
}
