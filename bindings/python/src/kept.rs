//! Objects of OpenCL in a process that may fork.
use crate::devices::in_child;
use std::ops::{Deref, DerefMut};

/// An object of OpenCL, which a forked child must not release.
pub struct Kept<T>(Option<T>);

impl<T> Kept<T> {
    pub fn new(of: T) -> Self {
        Self(Some(of))
    }
}

impl<T> Deref for Kept<T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.0.as_ref().expect("it is taken only when it is dropped")
    }
}

impl<T> DerefMut for Kept<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("it is taken only when it is dropped")
    }
}

impl<T> Drop for Kept<T> {
    fn drop(&mut self) {
        if in_child() {
            std::mem::forget(self.0.take());
        }
    }
}
