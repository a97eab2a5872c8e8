//! Two at work: one makes what another takes, so that reading and changing go on while what is done is written.

use std::num::NonZeroUsize;
use std::sync::mpsc::sync_channel;

use crate::error::Trouble;

/// Has `take` take what `make` gives, in its order: on a second thread if there is one, else at once. `waiting` is how
/// many things may lie between them.
///
/// What goes wrong in `take` comes first, because `make` ends by it.
pub(crate) fn line<T: Send, R>(
    (threads, waiting): (NonZeroUsize, usize),
    make: impl FnOnce(&mut dyn FnMut(T) -> Result<(), Trouble>) -> Result<R, Trouble>,
    mut take: impl FnMut(T) -> Result<(), Trouble> + Send,
) -> Result<R, Trouble> {
    if threads.get() == 1 {
        return make(&mut take);
    }
    let (give, given) = sync_channel::<T>(waiting);
    let on_two_threads = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new();
        let Ok(taker) = thread.spawn_scoped(scope, || given.into_iter().try_for_each(&mut take))
        else {
            return Err(make);
        };
        // Dropped with the closure that has it, by which the other learns that nothing comes any more.
        let made = make(&mut move |thing| {
            give.send(thing)
                .map_err(|_gone| Trouble::damaged("nobody takes what is read"))
        });
        let taken = taker
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok(taken.and(made))
    });
    // Where the system gives no second thread, one does both.
    on_two_threads.unwrap_or_else(|make| make(&mut take))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads(count: usize) -> NonZeroUsize {
        NonZeroUsize::new(count).unwrap()
    }

    fn numbers(to: u32, give: &mut dyn FnMut(u32) -> Result<(), Trouble>) -> Result<u32, Trouble> {
        for number in 0..to {
            give(number)?;
        }
        Ok(to)
    }

    #[test]
    fn everything_arrives_in_its_order() {
        for (count, waiting) in [(1, 0), (2, 0), (2, 3)] {
            let mut taken = Vec::new();
            let made = line(
                (threads(count), waiting),
                |give| numbers(1_000, give),
                |number| {
                    taken.push(number);
                    Ok(())
                },
            );
            assert_eq!(made.unwrap(), 1_000);
            assert!(taken.into_iter().eq(0..1_000));
        }
    }

    #[test]
    fn what_goes_wrong_on_either_side_ends_both() {
        for count in [1, 2] {
            let made = line(
                (threads(count), 1),
                |give| numbers(u32::MAX, give),
                |number| match number {
                    7 => Err(Trouble::Unwritable("seven".into())),
                    _ => Ok(()),
                },
            );
            assert!(matches!(made, Err(Trouble::Unwritable(what)) if what == "seven"));
            let mut taken = 0;
            let made = line(
                (threads(count), 1),
                |give| {
                    numbers(5, give)?;
                    Err::<(), _>(Trouble::damaged("five"))
                },
                |_number| {
                    taken += 1;
                    Ok(())
                },
            );
            assert!(matches!(made, Err(Trouble::Damaged(what)) if what == "five"));
            assert_eq!(taken, 5);
        }
    }

    #[test]
    #[should_panic(expected = "in the other thread")]
    fn a_panic_of_the_other_thread_is_passed_on() {
        let made = line(
            (threads(2), 1),
            |give| numbers(u32::MAX, give),
            |_number| panic!("in the other thread"),
        );
        drop(made);
    }
}
