//! Fake commands for tests: user events, which stay pending until the test ends them.
use opencl3::{
    event::{create_user_event, release_event, retain_event, set_user_event_status},
    types::{cl_context, cl_event},
};
use std::cell::RefCell;

thread_local! {
    /// The events that this thread has made since the last [`EndFaked`].
    static MADE: RefCell<Vec<cl_event>> = const { RefCell::new(Vec::new()) };
}

/// The event of a fake command, which stays pending until `set_user_event_status` ends it.
pub(super) fn fake(context: cl_context) -> Result<cl_event, i32> {
    let event = create_user_event(context)?;
    // SAFETY: the event was just made. `EndFaked` releases it.
    unsafe { retain_event(event)? };
    MADE.with_borrow_mut(|made| made.push(event));
    Ok(event)
}

/// When dropped, ends the commands faked by this thread that are still pending. A test that may
/// leave pending commands declares this value after its device: NVIDIA's driver waits for them
/// before it releases the context, even if the events were released.
pub(super) struct EndFaked;

impl Drop for EndFaked {
    fn drop(&mut self) {
        for event in MADE.take() {
            // Setting the status has no effect if the event has ended.
            let _ = set_user_event_status(event, 0);
            // SAFETY: `fake` retained the event.
            let _ = unsafe { release_event(event) };
        }
    }
}
