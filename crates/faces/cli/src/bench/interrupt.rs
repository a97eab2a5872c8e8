//! Ctrl-C ends a measurement early and leaves a report of what was done; a second one ends the program.

use keywright_measure::Stop;

use crate::exit::Exit;

/// Listens on a thread of its own until the program ends.
pub(super) fn listen(stop: &Stop) {
    let stop = stop.clone();
    let listening = std::thread::Builder::new()
        .name("interrupt".to_owned())
        .spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_io()
                .build();
            let Ok(runtime) = runtime else { return };
            runtime.block_on(async {
                while tokio::signal::ctrl_c().await.is_ok() {
                    if stop.is_asked() {
                        std::process::exit(i32::from(Exit::Interrupted as u8));
                    }
                    stop.ask();
                }
            });
        });
    // Without the thread Ctrl-C ends the program at once, as it does anyway.
    drop(listening);
}
