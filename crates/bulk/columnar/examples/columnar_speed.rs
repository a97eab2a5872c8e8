//! A column of cards in a Parquet file and in an Arrow file of six columns, uncompressed, against reading and writing
//! the same file with the crates `parquet` and `arrow-ipc`; in turns, each in a process of its own, from page
//! cache to page cache.
//!
//!     columnar_speed FOLDER [ROWS] [ROUNDS]
//!
//! Prints medians and the bars; exit code 3 if one is missed.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example")]

use std::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;
use keywright_clock::Clock;
use keywright_columnar::{Kind, Table, run};
use keywright_format::Rules;
use keywright_protect::{ColumnKey, Files, Keys, Plan};
use keywright_secret::Secret;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

const RULES: &str = "version = 1\n[[column]]\nname = \"card\"\nformat = \"card\"\n";

/// Rows of a row group or a batch.
const GROUP: u64 = 1 << 20;
const BATCH: u64 = 1 << 16;

/// 64 MiB and the column of cards of one row group, 20 bytes a row.
const MOST_MIB: u32 = 64 + 20;

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
        _ => Err("usage: columnar_speed FOLDER [ROWS] [ROUNDS]".into()),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(3),
        Err(error) => {
            eprintln!("columnar_speed: {error}");
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

fn properties() -> WriterProperties {
    WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .set_max_row_group_row_count(usize::try_from(GROUP).ok())
        .build()
}

/// Reads and writes, with nothing changed.
fn copy(from: &str, to: &str) -> Outcome<()> {
    let (input, output) = (File::open(from)?, File::create(to)?);
    if Kind::of(Path::new(from)) == Some(Kind::Parquet) {
        let reader = ParquetRecordBatchReaderBuilder::try_new(input)?.with_batch_size(8_192);
        let mut writer = ArrowWriter::try_new(output, reader.schema().clone(), Some(properties()))?;
        for batch in reader.build()? {
            writer.write(&batch?)?;
        }
        writer.close()?;
        return Ok(());
    }
    let reader = FileReader::try_new(BufReader::new(input), None)?;
    let mut writer = FileWriter::try_new(BufWriter::new(output), &reader.schema())?;
    for batch in reader {
        writer.write(&batch?)?;
    }
    writer.finish()?;
    Ok(())
}

fn protect(from: &str, to: &str, threads: &str) -> Outcome<()> {
    let table = Table::open(Path::new(from))?;
    let key = ColumnKey::without_id(1, Secret::from_fill(|key| key.fill(1)))?;
    let keys = Keys::none().with_unnamed(key);
    let plan = Plan::protect(table.layout(), &Rules::parse(RULES)?, &keys)?;
    let files = Files::new(Path::new(to));
    run(&table, &plan, &files, threads.parse()?, &mut |_| {
        ControlFlow::Continue(())
    })?;
    Ok(())
}

/// Six columns, as a shop might export them.
fn batch(first: u64, rows: u64) -> Outcome<RecordBatch> {
    let names = ["Ada", "Chiara", "Dmitri", "Yuki", "Wanjiru", "Olga"];
    let cities = ["Oslo", "Wien", "Lagos", "Porto", "Nairobi"];
    let numbers = || first..first + rows;
    let pick = |items: &[&'static str], row: u64| {
        let place = usize::try_from(row).unwrap_or_default() % items.len();
        items.get(place).copied().unwrap_or_default()
    };
    let scattered = |row: u64| row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    let card = |row: u64| {
        let body = 400_000_000_000_000 + scattered(row) % 100_000_000_000_000;
        format!("{body}{}", luhn(body))
    };
    let signed = numbers()
        .map(i64::try_from)
        .collect::<Result<Vec<_>, _>>()?;
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from(signed))),
        (
            "name",
            Arc::new(StringArray::from_iter_values(
                numbers().map(|row| pick(&names, row)),
            )),
        ),
        (
            "card",
            Arc::new(StringArray::from_iter_values(numbers().map(card))),
        ),
        (
            "city",
            Arc::new(StringArray::from_iter_values(
                numbers().map(|row| pick(&cities, row)),
            )),
        ),
        (
            "amount",
            Arc::new(Float64Array::from_iter_values(
                numbers().map(|row| scattered(row) as f64 / 100.0),
            )),
        ),
        (
            "day",
            Arc::new(StringArray::from_iter_values(numbers().map(|row| {
                format!("2026-{:02}-{:02}", 1 + row % 12, 1 + row % 28)
            }))),
        ),
    ];
    Ok(RecordBatch::try_from_iter(columns)?)
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

fn make(folder: &Path, rows: u64) -> Outcome<[String; 2]> {
    let paths = ["speed.parquet", "speed.arrow"].map(|name| folder.join(name));
    let schema = batch(0, 1)?.schema();
    let [parquet, arrow] = &paths;
    let mut parquet =
        ArrowWriter::try_new(File::create(parquet)?, schema.clone(), Some(properties()))?;
    let mut arrow = FileWriter::try_new(BufWriter::new(File::create(arrow)?), &schema)?;
    let mut first = 0;
    while first < rows {
        let batch = batch(first, BATCH.min(rows - first))?;
        parquet.write(&batch)?;
        arrow.write(&batch)?;
        first += BATCH;
    }
    parquet.close()?;
    arrow.finish()?;
    Ok(paths.map(|path| path.to_string_lossy().into_owned()))
}

fn compare(folder: &str, rows: &str, rounds: &str) -> Outcome<bool> {
    let (rows, rounds): (u64, usize) = (rows.parse()?, rounds.parse()?);
    let folder = Path::new(folder);
    let files = make(folder, rows)?;
    let output = folder.join("speed.out").to_string_lossy().into_owned();
    let mut all = true;
    for (name, file) in ["Parquet", "Arrow"].into_iter().zip(&files) {
        all &= of_kind(name, [file, &output], rows, rounds)?;
        std::fs::remove_file(file)?;
    }
    for name in ["speed.out", "speed.out.protection.json"] {
        std::fs::remove_file(folder.join(name))?;
    }
    Ok(all)
}

fn of_kind(name: &str, [from, to]: [&str; 2], rows: u64, rounds: usize) -> Outcome<bool> {
    let ways: [&[&str]; 3] = [
        &["copy", from, to],
        &["protect", from, to, "1"],
        &["protect", from, to, "2"],
    ];
    let mut times = [const { Vec::new() }; 3];
    let mut peak = 0;
    for round in 0..=rounds {
        for (way, times) in ways.iter().zip(&mut times) {
            // To a file that is not there, as a run that is not asked to replace one.
            for name in [to.to_owned(), format!("{to}.protection.json")] {
                if Path::new(&name).exists() {
                    std::fs::remove_file(name)?;
                }
            }
            let (seconds, kib) = child(way)?;
            // The first round fills the page cache.
            if round > 0 {
                times.push(seconds);
                peak = peak.max(if way.contains(&"copy") { 0 } else { kib });
            }
        }
    }
    let [copy, protect, two] = times.map(median);
    let rate = rows as f64 / protect;
    let figures = [
        format!(
            "{name}, read and write: {:.2} M rows/s",
            rows as f64 / copy / 1e6
        ),
        format!(
            "{name}, protect, one thread: {:.2} M rows/s; two: {:.2} M rows/s",
            rate / 1e6,
            rows as f64 / two / 1e6
        ),
        format!(
            "{name}, protect / read and write (at most 1.5, or 15 M rows/s): {:.3}",
            protect / copy
        ),
        format!(
            "{name}, peak MiB (at most {MOST_MIB}): {:.1}",
            f64::from(peak) / 1024.0
        ),
    ];
    let met = [
        true,
        true,
        rate >= 15e6 || protect / copy <= 1.5,
        peak <= MOST_MIB << 10,
    ];
    for (figure, met) in figures.iter().zip(met) {
        println!("{figure}{}", if met { "" } else { "  MISSED" });
    }
    Ok(!met.contains(&false))
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
