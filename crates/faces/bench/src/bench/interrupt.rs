//! Ctrl-C, or a request to terminate, ends a measurement early and leaves a report of what was done; a second
//! one ends the program.

use keywright_measure::Stop;

use crate::exit::Exit;

/// Listens on a thread of its own until the program ends.
pub(crate) fn listen(stop: &Stop) {
    keywright_terminal::token::heard::others_listen();
    let stop = stop.clone();
    let listening = std::thread::Builder::new()
        .name("interrupt".to_owned())
        .spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_io()
                .build();
            let Ok(runtime) = runtime else { return };
            runtime.block_on(async {
                while asked().await {
                    if stop.is_asked() {
                        std::process::exit(i32::from(Exit::Interrupted as u8));
                    }
                    stop.ask();
                }
            });
        });
    // Without the thread a signal ends the program at once, as it does anyway.
    drop(listening);
}

/// Waits for the next signal; false if none can be had.
async fn asked() -> bool {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return tokio::signal::ctrl_c().await.is_ok();
    };
    tokio::select! {
        heard = tokio::signal::ctrl_c() => heard.is_ok(),
        heard = terminate.recv() => heard.is_some(),
    }
}
