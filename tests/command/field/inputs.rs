use super::{super::*, case};
