//! Whatever stops whenever, there is the old session or the new one.

use keywright_session::hazmat::Stop;
use keywright_session::{Error, Mode};

use crate::folders::{Folders, MODES, answer, begin, get, send, stored};
use crate::scene::{kind, receive};

#[test]
fn t19_whatever_step_the_disk_stops_at_the_old_session_or_the_new_one_is_there() {
    for mode in MODES {
        for stop in [Stop::Before, Stop::Within] {
            for steps in 0..12 {
                crash_in_sending(mode, stop, steps);
                crash_in_receiving(mode, stop, steps);
            }
        }
    }
}

fn crash_in_sending(mode: Mode, stop: Stop, steps: u64) {
    let folders = Folders::new(mode);
    let (mut scene, mut other, id) = stored(&folders);
    let files = folders.failing(steps, stop);
    if let Ok(mut kept) = files.load(&id, &mut scene.random) {
        // A turn is due, so even a fenced session has to save.
        if let Ok(frame) = send(&mut kept, b"before the crash") {
            receive(&mut other, &frame, b"before the crash");
        } else {
            assert_eq!(kind(send(&mut kept, b"again")), "Broken");
        }
    }
    drop(files);
    let files = folders.files();
    let mut kept = files.load(&id, &mut scene.random).unwrap();
    let frame = send(&mut kept, b"after").unwrap();
    receive(&mut other, &frame, b"after");
    let frame = answer(&mut scene, &mut other, b"and back");
    assert_eq!(get(&mut kept, &frame).unwrap(), b"and back");
}

fn crash_in_receiving(mode: Mode, stop: Stop, steps: u64) {
    let folders = Folders::new(mode);
    let (mut scene, mut other, id) = stored(&folders);
    let frame = answer(&mut scene, &mut other, b"delivered");
    let files = folders.failing(steps, stop);
    let mut delivered = 0;
    if let Ok(mut kept) = files.load(&id, &mut scene.random) {
        delivered += usize::from(get(&mut kept, &frame).is_ok());
    }
    drop(files);
    let files = folders.files();
    let mut kept = files.load(&id, &mut scene.random).unwrap();
    // What was not handed over opens now, unless it was stored in the last moment: then it is gone, never
    // handed over twice.
    delivered += usize::from(get(&mut kept, &frame).is_ok());
    assert!(delivered <= 1, "{mode:?} {stop:?} {steps}");
    let frame = answer(&mut scene, &mut other, b"next");
    assert_eq!(get(&mut kept, &frame).unwrap(), b"next");
}

#[test]
fn t19_a_first_save_that_stops_leaves_nothing_or_the_session() {
    for mode in MODES {
        for stop in [Stop::Before, Stop::Within] {
            for steps in 0..12 {
                let folders = Folders::new(mode);
                let (mut scene, one) = begin(mode);
                let id = *one.id();
                let kept = folders
                    .failing(steps, stop)
                    .keep(one, &mut scene.random)
                    .is_ok();
                let files = folders.files();
                match files.load(&id, &mut scene.random) {
                    Ok(mut again) => {
                        let frame = send(&mut again, b"hello").unwrap();
                        scene.accept(&frame).unwrap();
                    }
                    Err(error) => {
                        assert!(matches!(error, Error::NotFound), "{error:?}");
                        assert!(!kept);
                    }
                }
            }
        }
    }
}
