//! Keeps kernels and other compiled objects between two uses. A product with the methods for
//! scalars has about ninety kernels. Looking up ninety kernels for each product takes the host
//! longer than a GPU needs for a small product.
use super::Device;
use crate::{Error, Result};
use std::{
    any::{Any, type_name},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The objects that are kept, the most recently used last.
#[derive(Default)]
pub(super) struct Loans {
    kept: Mutex<Vec<Box<dyn AnyLoan>>>,
}

/// An object that is kept under a key. Only one user at a time can borrow a kept object.
pub(crate) struct Loan<K, V> {
    key: K,
    pub value: V,
    /// The number of failed programs when the object was made. If more programs have failed after
    /// the object was made, one of the object's own programs may have failed without being
    /// launched.
    failed: u64,
}

trait AnyLoan: Any + Send {
    fn key(&self) -> &dyn Any;
    fn failed(&self) -> u64;
}

impl<K: Send + 'static, V: Send + 'static> AnyLoan for Loan<K, V> {
    fn key(&self) -> &dyn Any {
        &self.key
    }

    fn failed(&self) -> u64 {
        self.failed
    }
}

impl Loans {
    /// Maximum number of objects kept. Each object holds the programs for one combination of
    /// shapes, types and options.
    const BOUND: usize = 16;

    fn kept(&self) -> MutexGuard<'_, Vec<Box<dyn AnyLoan>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds an object by its key. The key must determine the type of the value. The type is
    /// checked after the object is found.
    fn take<K: PartialEq + 'static, V: 'static>(&self, key: &K, failed: u64) -> Result<Option<Loan<K, V>>> {
        let mut kept = self.kept();
        kept.retain(|loan| loan.failed() == failed);
        let Some(at) = kept.iter().rposition(|loan| loan.key().downcast_ref() == Some(key)) else { return Ok(None) };
        let loan: Box<dyn Any> = kept.remove(at);
        let of_another_type = |_| {
            let (key, value) = (type_name::<K>(), type_name::<V>());
            Error::Contradiction(format!("what is kept for a key of type {key} is no {value}"))
        };
        loan.downcast().map(|loan| Some(*loan)).map_err(of_another_type)
    }
}

impl Device {
    /// Returns the object kept under an equal key, or a new object from `make`. After a successful
    /// use of the object, the caller returns it by [`Device::keep`]. The object must not hold the
    /// device, because the device would then never be dropped.
    ///
    /// # Errors
    /// [`Error::Contradiction`] if the object has another type than `V`: the key must contain
    /// everything on which the type depends.
    pub(crate) fn lend<K, V>(&self, key: K, make: impl FnOnce() -> Result<V>) -> Result<Loan<K, V>>
    where
        K: PartialEq + 'static,
        V: 'static,
    {
        let failed = self.inner.compiler.failed();
        match self.inner.loans.take(&key, failed)? {
            Some(loan) => Ok(loan),
            None => Ok(Loan { key, value: make()?, failed }),
        }
    }

    /// Keeps an object for its next use. If there are too many objects, the least recently used one
    /// is dropped.
    pub(crate) fn keep<K: Send + 'static, V: Send + 'static>(&self, loan: Loan<K, V>) {
        let mut kept = self.inner.loans.kept();
        let oldest = (kept.len() >= Loans::BOUND).then(|| kept.remove(0));
        kept.push(Box::new(loan));
        drop(kept);
        drop(oldest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::test_device;

    #[test]
    fn what_is_kept_is_lent_to_one_at_a_time_and_the_oldest_goes_first() -> Result<()> {
        let device = Device::open(test_device().info())?;
        let lent = |key: usize| device.lend(key, || Ok("new".to_owned()));
        let value = |key: usize| Ok::<_, crate::Error>(lent(key)?.value);
        for key in 0..=Loans::BOUND {
            let mut loan = lent(key)?;
            loan.value = key.to_string();
            device.keep(loan);
        }
        assert_eq!([value(0)?, value(1)?, value(1)?], ["new", "1", "new"]);
        assert_eq!(device.lend(2u32, || Ok(5u8))?.value, 5, "the key has another type");
        assert!(matches!(device.lend(2usize, || Ok(5u8)), Err(Error::Contradiction(_))), "the value has another type");
        let (mut one, two) = (lent(7)?, lent(7)?);
        assert_eq!([&one.value, &two.value], ["7", "new"]);
        one.value = "first".into();
        device.keep(two);
        device.keep(one);
        assert_eq!([value(7)?, value(7)?, value(7)?], ["first", "new", "new"]);
        Ok(())
    }

    #[test]
    fn nothing_is_kept_after_a_program_has_failed() -> Result<()> {
        let loans = Loans::default();
        let loan = |failed| Box::new(Loan { key: 1, value: 2, failed });
        loans.kept().extend([loan(0) as Box<dyn AnyLoan>, loan(1)]);
        assert!(loans.take::<i32, i32>(&1, 1)?.is_some_and(|loan| loan.failed == 1));
        assert!(loans.take::<i32, i32>(&1, 1)?.is_none() && loans.kept().is_empty());
        Ok(())
    }
}
