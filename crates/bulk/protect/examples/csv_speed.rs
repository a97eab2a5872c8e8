//! A column of cards in a CSV file of six, against reading, splitting and writing the same file with the crate
//! `csv` and no protection; in turns, each in a process of its own, from page cache to page cache.
//!
//!     csv_speed FOLDER [ROWS] [ROUNDS]
//!
//! Prints medians and the bars; exit code 3 if one is missed. What two threads gain is bounded by what the machine has
//! of a second core, so two processes of one thread each are timed at once as well, in the same turns.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example")]

use std::error::Error;
use std::io::{BufWriter, Write as _};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, ExitCode};

use keywright_clock::Clock;
use keywright_format::Rules;
use keywright_protect::{ColumnKey, Files, Keys, Options, Plan, Source, run};
use keywright_secret::Secret;
use keywright_tabular::csv::Options as Dialect;

const RULES: &str = "version = 1\n[[column]]\nname = \"card\"\nformat = \"card\"\n";

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["copy", from, to] => timed(|| copy(from, to)).map(|()| true),
        ["protect", from, to, threads] => timed(|| protect(from, to, threads)).map(|()| true),
        [folder] => compare(folder, "10000000", "5"),
        [folder, rows] => compare(folder, rows, "5"),
        [folder, rows, rounds] => compare(folder, rows, rounds),
        _ => Err("usage: csv_speed FOLDER [ROWS] [ROUNDS]".into()),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(3),
        Err(error) => {
            eprintln!("csv_speed: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints seconds, and the most memory that the process had, in KiB.
fn timed(work: impl FnOnce() -> Outcome<()>) -> Outcome<()> {
    let clock = Clock::system();
    let start = clock.monotonic();
    work()?;
    let took = clock.monotonic().since(start);
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next())
        .unwrap_or("0");
    println!("{} {peak}", took.as_secs_f64());
    Ok(())
}

/// Reads, splits and writes, with nothing changed.
fn copy(from: &str, to: &str) -> Outcome<()> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_path(from)?;
    let mut writer = csv::WriterBuilder::new().from_path(to)?;
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record)? {
        writer.write_byte_record(&record)?;
    }
    writer.flush()?;
    Ok(())
}

fn protect(from: &str, to: &str, threads: &str) -> Outcome<()> {
    let source = Source::open(Path::new(from), &Dialect::default())?;
    let key = ColumnKey::without_id(1, Secret::from_fill(|key| key.fill(1)))?;
    let keys = Keys::none().with_unnamed(key);
    let plan = Plan::protect(source.layout(), &Rules::parse(RULES)?, &keys)?;
    let files = Files::new(Path::new(to));
    let threads: NonZeroUsize = threads.parse()?;
    run(&source, &plan, &files, &Options::new(threads), &mut |_| {
        ControlFlow::Continue(())
    })?;
    Ok(())
}

/// Six columns, as a shop might export them.
fn make(path: &Path, rows: u64) -> Outcome<()> {
    let mut out = BufWriter::with_capacity(1 << 20, std::fs::File::create(path)?);
    out.write_all(b"id,name,card,city,amount,day\n")?;
    let names = ["Ada", "Chiara", "Dmitri", "Yuki", "Wanjiru", "Olga"];
    let cities = ["Oslo", "Wien", "Lagos", "Porto", "Nairobi"];
    let mut state = 1_u64;
    for row in 0..rows {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let pick = |items: &[&'static str]| {
            let place = usize::try_from(row).unwrap_or_default() % items.len();
            items.get(place).copied().unwrap_or_default()
        };
        let body = 400_000_000_000_000 + (state >> 20) % 100_000_000_000_000;
        writeln!(
            out,
            "{row},{},{body}{},{},{}.{:02},2026-{:02}-{:02}",
            pick(&names),
            luhn(body),
            pick(&cities),
            state >> 50,
            row % 100,
            1 + row % 12,
            1 + row % 28,
        )?;
    }
    out.flush()?;
    Ok(())
}

fn luhn(mut body: u64) -> u64 {
    let (mut sum, mut twice) = (0, true);
    while body > 0 {
        let digit = body % 10 * if twice { 2 } else { 1 };
        sum += digit / 10 + digit % 10;
        (body, twice) = (body / 10, !twice);
    }
    (10 - sum % 10) % 10
}

fn compare(folder: &str, rows: &str, rounds: &str) -> Outcome<bool> {
    let (rows, rounds): (u64, usize) = (rows.parse()?, rounds.parse()?);
    let folder = Path::new(folder);
    let (input, output) = (folder.join("speed.csv"), folder.join("speed.out"));
    make(&input, rows)?;
    let (from, to) = (input.to_string_lossy(), output.to_string_lossy());
    let second = format!("{to}.second");
    let ways: [&[&str]; 3] = [
        &["copy", &from, &to],
        &["protect", &from, &to, "1"],
        &["protect", &from, &to, "2"],
    ];
    let mut times = [const { Vec::new() }; 3];
    let mut at_once = Vec::new();
    let mut peak = 0;
    for round in 0..=rounds {
        for (way, times) in ways.iter().zip(&mut times) {
            // To a file that is not there, as a run that is not asked to replace one.
            remove(folder, &OUTPUTS)?;
            let (seconds, kib) = child(way)?;
            // The first round fills the page cache.
            if round > 0 {
                times.push(seconds);
                peak = peak.max(if way.contains(&"copy") { 0 } else { kib });
            }
        }
        remove(folder, &OUTPUTS)?;
        at_once.push(pair(["protect", &from, &to, "1"], &second)?);
    }
    remove(folder, &["speed.csv"])?;
    remove(folder, &OUTPUTS)?;
    let ([copy, one, two], both) = (times.map(median), median(at_once));
    let rate = rows as f64 / one;
    println!(
        "read, split and write with the crate csv: {:.2} M rows/s",
        rows as f64 / copy / 1e6
    );
    println!(
        "protect, one thread: {:.2} M rows/s; two: {:.2} M rows/s",
        rate / 1e6,
        rows as f64 / two / 1e6
    );
    println!(
        "two processes of one thread each, at once: {:.3} times as many rows as one",
        2.0 * one / both
    );
    let bars = [
        ("protect/csv<=1.5", one / copy, one / copy <= 1.5),
        ("M rows/s>=3", rate / 1e6, rate >= 3e6),
        ("two threads/one>=1.8", one / two, one / two >= 1.8),
        ("peak MiB<=64", f64::from(peak) / 1024.0, peak <= 64 << 10),
    ];
    for (name, figure, met) in bars {
        println!("{name}: {figure:.3}{}", if met { "" } else { "  MISSED" });
    }
    Ok(bars.iter().all(|(_, _, met)| *met))
}

/// What runs leave.
const OUTPUTS: [&str; 4] = [
    "speed.out",
    "speed.out.protection.json",
    "speed.out.second",
    "speed.out.second.protection.json",
];

fn remove(folder: &Path, names: &[&str]) -> Outcome<()> {
    for name in names {
        let path = folder.join(name);
        if path.exists() {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Seconds of the slower of two that run at once, each to a file of its own.
fn pair(words: [&str; 4], second: &str) -> Outcome<f64> {
    let [way, from, _, threads] = words;
    let others = [way, from, second, threads];
    std::thread::scope(|scope| {
        let other = scope.spawn(|| child(&others).map_err(|error| error.to_string()));
        let (own, _) = child(&words)?;
        let (theirs, _) = other.join().map_err(|_panic| "a child was lost")??;
        Ok(own.max(theirs))
    })
}

/// Seconds and KiB of one way in a process of its own.
fn child(words: &[&str]) -> Outcome<(f64, u32)> {
    let output = Command::new(std::env::current_exe()?)
        .args(words)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let (seconds, kib) = text.trim().split_once(' ').ok_or("a child said nothing")?;
    Ok((seconds.parse()?, kib.parse()?))
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
