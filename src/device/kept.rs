//! Compiled things between two uses. A product by the methods of scalars has some ninety kernels:
//! to name them all again takes the host longer than a small product takes a GPU.
use super::Device;
use crate::Result;
use std::{
    any::Any,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// What is kept for the next use; the last of it was used last.
#[derive(Default)]
pub(super) struct Keep {
    loans: Mutex<Vec<Box<dyn AnyLoan>>>,
}

/// Something that is kept for uses with an equal key, and used by one at a time.
pub(crate) struct Loan<K, V> {
    key: K,
    pub value: V,
    /// How many programs had failed when it was made. One of its own may have failed since, though
    /// it was not launched.
    failed: u64,
}

trait AnyLoan: Any + Send {
    fn failed(&self) -> u64;
}

impl<K: Send + 'static, V: Send + 'static> AnyLoan for Loan<K, V> {
    fn failed(&self) -> u64 {
        self.failed
    }
}

impl Keep {
    /// Each keeps the programs of a combination of shapes, types and options.
    const BOUND: usize = 16;

    fn loans(&self) -> MutexGuard<'_, Vec<Box<dyn AnyLoan>>> {
        self.loans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take<K: PartialEq + 'static, V: 'static>(&self, key: &K, failed: u64) -> Option<Loan<K, V>> {
        let mut loans = self.loans();
        loans.retain(|loan| loan.failed() == failed);
        let is_equal = |loan: &dyn AnyLoan| {
            let loan: &dyn Any = loan;
            loan.downcast_ref::<Loan<K, V>>().is_some_and(|loan| loan.key == *key)
        };
        let at = loans.iter().rposition(|loan| is_equal(&**loan))?;
        let loan: Box<dyn Any> = loans.remove(at);
        loan.downcast().ok().map(|loan| *loan)
    }
}

impl Device {
    /// What was kept for an equal key, or what `make` makes. Whoever has it used it without failure
    /// gives it to [`Device::keep`]. It must hold no device, which would never end then.
    pub(crate) fn lend<K, V>(&self, key: K, make: impl FnOnce() -> Result<V>) -> Result<Loan<K, V>>
    where
        K: PartialEq + 'static,
        V: 'static,
    {
        let failed = self.inner.compiler.failed();
        match self.inner.kept.take(&key, failed) {
            Some(loan) => Ok(loan),
            None => Ok(Loan { key, value: make()?, failed }),
        }
    }

    /// Keeps something for the next use, and drops what was not used for longest if that is too
    /// much.
    pub(crate) fn keep<K: Send + 'static, V: Send + 'static>(&self, loan: Loan<K, V>) {
        let mut loans = self.inner.kept.loans();
        let oldest = (loans.len() >= Keep::BOUND).then(|| loans.remove(0));
        loans.push(Box::new(loan));
        drop(loans);
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
        for key in 0..=Keep::BOUND {
            let mut loan = lent(key)?;
            loan.value = key.to_string();
            device.keep(loan);
        }
        assert_eq!([value(0)?, value(1)?, value(1)?], ["new", "1", "new"]);
        assert_eq!(device.lend(2usize, || Ok(5u8))?.value, 5, "of another type");
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
        let keep = Keep::default();
        let loan = |failed| Box::new(Loan { key: 1, value: 2, failed });
        keep.loans().extend([loan(0) as Box<dyn AnyLoan>, loan(1)]);
        assert!(keep.take::<i32, i32>(&1, 1).is_some_and(|loan| loan.failed == 1));
        assert!(keep.take::<i32, i32>(&1, 1).is_none() && keep.loans().is_empty());
        Ok(())
    }
}
