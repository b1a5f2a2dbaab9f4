//! Error messages for keywords, of g2o and of programs based on g2o, that the reader of g2o files
//! refuses.
use crate::io::words::quote;

/// The treatment of a keyword that the reader of g2o does not interpret.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// A line that is skipped, because it does not influence the solution.
    Data,
    /// A line that is refused, because without the line the problem would be another problem.
    Needed(&'static str),
}

use Use::{Data, Needed};

const PRIOR: Use = Needed("a prior of a vertex");
const CALIBRATION: Use = Needed("a calibration");
const CAMERA: Use = Needed("a camera");
const IMAGE: Use = Needed("a measurement in a picture");
const OFFSET: Use = Needed("a measurement of a sensor with a pose of its own");
const SHAPE: Use = Needed("a line, a plane or a segment");
const SWITCH: Use = Needed("a switch of robust edges");
const SEVERAL: Use = Needed("a measurement of other landmarks");

/// Keywords of g2o (https://github.com/RainerKuemmerle/g2o) and, at the end, of Vertigo.
const OF_G2O: [(&str, Use); 71] = [
    ("EDGE_BEARING_SE2_XY", Needed("a bearing without a distance")),
    ("EDGE_CAM", CAMERA),
    ("EDGE_LINE2D", SHAPE),
    ("EDGE_LINE2D_POINTXY", SHAPE),
    ("EDGE_PLANE", SHAPE),
    ("EDGE_POINTXY", SEVERAL),
    ("EDGE_POINTXYZ", SEVERAL),
    ("EDGE_POINTXYZ_PRIOR", PRIOR),
    ("EDGE_PRIOR_SE2", PRIOR),
    ("EDGE_PRIOR_SE2_XY", PRIOR),
    ("EDGE_PRIOR_XY", PRIOR),
    ("EDGE_PROJECT_DEPTH", IMAGE),
    ("EDGE_PROJECT_DISPARITY", IMAGE),
    ("EDGE_PROJECT_INVERSE_SIM3_XYZ:EXPMAP", IMAGE),
    ("EDGE_PROJECT_P2MC", IMAGE),
    ("EDGE_PROJECT_P2MC_INTRINSICS", IMAGE),
    ("EDGE_PROJECT_P2SC", IMAGE),
    ("EDGE_PROJECT_SIM3_XYZ:EXPMAP", IMAGE),
    ("EDGE_PROJECT_XYZ2UV:EXPMAP", IMAGE),
    ("EDGE_PROJECT_XYZ2UVU:EXPMAP", IMAGE),
    ("EDGE_SCALE", Needed("a scale")),
    ("EDGE_SE2_CALIB", CALIBRATION),
    ("EDGE_SE2_LINE2D", SHAPE),
    ("EDGE_SE2_LOTSOFXY", SEVERAL),
    ("EDGE_SE2_ODOM_DIFFERENTIAL_CALIB", CALIBRATION),
    ("EDGE_SE2_OFFSET", OFFSET),
    ("EDGE_SE2_POINTXY_OFFSET", OFFSET),
    ("EDGE_SE2_PRIOR", PRIOR),
    ("EDGE_SE2_SEGMENT2D", SHAPE),
    ("EDGE_SE2_SEGMENT2D_LINE", SHAPE),
    ("EDGE_SE2_SEGMENT2D_POINTLINE", SHAPE),
    ("EDGE_SE2_TWOPOINTSXY", SEVERAL),
    ("EDGE_SE2_XY_CALIB", CALIBRATION),
    ("EDGE_SE3:EXPMAP", Needed("a pose in a camera's frame")),
    ("EDGE_SE3_CALIB", CALIBRATION),
    ("EDGE_SE3_LINE3D", SHAPE),
    ("EDGE_SE3_LOTSOF_XYZ", SEVERAL),
    ("EDGE_SE3_OFFSET", OFFSET),
    ("EDGE_SE3_PLANE_CALIB", CALIBRATION),
    ("EDGE_SE3_PRIOR", PRIOR),
    ("EDGE_SE3_PROJECT_XYZ:EXPMAP", IMAGE),
    ("EDGE_SE3_PROJECT_XYZONLYPOSE:EXPMAP", IMAGE),
    ("EDGE_SE3_XYZ_PRIOR", PRIOR),
    ("EDGE_SIM3:EXPMAP", Needed("a similarity")),
    ("EDGE_STEREO_SE3_PROJECT_XYZ:EXPMAP", IMAGE),
    ("EDGE_STEREO_SE3_PROJECT_XYZONLYPOSE:EXPMAP", IMAGE),
    ("EDGE_V_V_GICP", Needed("a match of surfaces")),
    ("FLASER", Data),
    ("PARAMS_CAMERACALIB", CAMERA),
    ("PARAMS_CAMERAPARAMETERS", CAMERA),
    ("PARAMS_STEREOCAMERACALIB", CAMERA),
    ("RAWLASER1", Data),
    ("ROBOTLASER1", Data),
    ("VERTEX_CAM", CAMERA),
    ("VERTEX_ELLIPSE", Data),
    ("VERTEX_INTRINSICS", CAMERA),
    ("VERTEX_LINE2D", SHAPE),
    ("VERTEX_LINE3D", SHAPE),
    ("VERTEX_ODOM_DIFFERENTIAL", CALIBRATION),
    ("VERTEX_PLANE", SHAPE),
    ("VERTEX_SE3:EXPMAP", Needed("a pose in a camera's frame")),
    ("VERTEX_SEGMENT2D", SHAPE),
    ("VERTEX_SIM3:EXPMAP", Needed("a similarity")),
    ("VERTEX_TAG", Data),
    ("VERTEX_XYZ", Needed("a point of a bundle adjustment")),
    ("EDGE_SE2_MIXTURE", Needed("a mixture of measurements")),
    ("EDGE_SE3_MIXTURE", Needed("a mixture of measurements")),
    ("EDGE_SE2_SWITCHABLE", SWITCH),
    ("EDGE_SE3_SWITCHABLE", SWITCH),
    ("EDGE_SWITCH_PRIOR", SWITCH),
    ("VERTEX_SWITCH", SWITCH),
];

/// The keywords of g2o's files that this library reads.
const READ: [&str; 11] = [
    "VERTEX_SE2",
    "VERTEX_XY",
    "VERTEX_SE3:QUAT",
    "VERTEX_TRACKXYZ",
    "EDGE_SE2",
    "EDGE_SE2_XY",
    "EDGE_SE3:QUAT",
    "EDGE_SE3_TRACKXYZ",
    "PARAMS_SE2OFFSET",
    "PARAMS_SE3OFFSET",
    "FIX",
];

fn of_g2o(word: &[u8]) -> Option<Use> {
    OF_G2O.iter().find(|(known, _)| known.as_bytes() == word).map(|&(_, is)| is)
}

/// Whether lines with this keyword are data, such as scans, that do not influence the solution.
pub(super) fn is_data(word: &[u8]) -> bool {
    of_g2o(word) == Some(Data)
}

/// The reason why the reader of g2o refuses a keyword.
pub(super) fn refusal(word: &[u8]) -> String {
    match of_g2o(word) {
        Some(Needed(what)) => format!(
            "{} of g2o is not supported, {what}: vertices of SE2, XY, SE3:QUAT and TRACKXYZ are, and edges between them; the file can be \
             solved without it if its lines are taken out",
            quote(word)
        ),
        _ => unknown(word, READ.iter().copied().chain(OF_G2O.iter().map(|&(known, _)| known))),
    }
}

/// The message for a word that is not among the `known` words. The message suggests the nearest
/// known word, if this word is similar.
pub(super) fn unknown<'k>(word: &[u8], known: impl Iterator<Item = &'k str>) -> String {
    let nearest = known.map(|known| (distance(word, known.as_bytes()), known)).min();
    let refusal = format!("{} is not a keyword this reader knows", quote(word));
    match nearest {
        Some((distance, known)) if 3 * distance <= known.len() => format!("{refusal}; the nearest is {known}"),
        _ => refusal,
    }
}

/// The least number of letters to add, remove or replace to turn one word into the other (V. I.
/// Levenshtein, 1966). Only the first 64 letters are compared.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let (a, b) = (&a[..a.len().min(64)], &b[..b.len().min(64)]);
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut before = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = before + usize::from(x != y);
            before = row[j + 1];
            row[j + 1] = replaced.min(before + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_near_by_their_letters() {
        for (a, b, want) in [("", "", 0), ("abc", "", 3), ("", "ab", 2), ("kitten", "sitting", 3), ("ab", "ba", 2)] {
            assert_eq!(distance(a.as_bytes(), b.as_bytes()), want, "{a} {b}");
        }
    }

    #[test]
    fn what_is_known_is_named_and_what_is_not_has_a_neighbour() {
        let known = refusal(b"EDGE_SE3_PRIOR");
        assert!(known.starts_with("\"EDGE_SE3_PRIOR\" of g2o is not supported, a prior of a vertex: "), "{known}");
        let unknown = |word: &str| refusal(word.as_bytes()).split_once("knows").unwrap().1.to_owned();
        assert_eq!(unknown("EDGE_SE3_QUAT"), "; the nearest is EDGE_SE3:QUAT");
        assert_eq!(unknown("vertex_se2"), "");
        assert_eq!(unknown("VERTEX_XYY"), "; the nearest is VERTEX_XY");
        assert!(refusal(b"VERTEX_XYZ").contains(" is not supported, a point of a bundle adjustment: "));
        assert_eq!(unknown(&"x".repeat(10_000)), "");
        let mut all: Vec<&str> = OF_G2O.iter().map(|&(word, _)| word).chain(READ).collect();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
