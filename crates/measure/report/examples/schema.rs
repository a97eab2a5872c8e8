//! Prints the JSON Schema of results: the way to write `schema/bench-1.0.0.json` anew.

#[expect(clippy::print_stdout, reason = "printing is all this program does")]
fn main() -> Result<(), keywright_report::Error> {
    print!("{}", keywright_report::schema::text()?);
    Ok(())
}
