//! A log without an end: every line has names, processes, sessions, keys and nonces of its own.

use std::fmt::Write as _;

/// Pages of this process that are in memory, in bytes.
pub(crate) fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = text.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * 4096
}

/// The next thousand lines of it.
pub(crate) fn thousand(from: u64, out: &mut String) {
    out.clear();
    for n in from..from + 1000 {
        let (second, minute) = (n / 1000 % 60, n / 60_000 % 60);
        let func = [
            "C_OpenSession",
            "C_EncryptInit",
            "C_EncryptInit",
            "C_EncryptInit",
            "C_Vendor",
        ][usize::try_from(n % 5).unwrap()];
        let odd = if n % 5 == 4 { n } else { 0 };
        writeln!(
            out,
            "{{\"v\":\"1.0\",\"seq\":{n},\"ts\":\"2026-11-21T02:{minute:02}:{second:02}.000000001Z\",\"mono_ns\":{},\"pid\":{},\
             \"func\":\"{func}{}\",\"rv\":{},\"dur_ns\":{},\"slot_id\":{n},\"session\":{n},\"mech\":{{\"value\":{},\
             \"name\":\"x\",\"params\":{{\"iv_tag\":\"{n:016x}\"}}}},\"key\":{{\"handle\":{n},\"tag\":\"{n:016x}\"}}}}",
            n * 1000,
            n / 10,
            if odd == 0 { String::new() } else { odd.to_string() },
            if n % 5 == 4 { n % 7000 } else { 0 },
            1 + n * n % 1_000_003,
            if n % 2 == 0 { 4231 } else { n },
        )
        .unwrap();
    }
}
