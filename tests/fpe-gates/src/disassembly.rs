//! What objdump writes of a program (`-d -C -M intel --no-show-raw-insn`), searched for instructions whose
//! time or whose addresses depend on their operands: divisions, gathers, and loads from tables of constants.
//!
//! A load counts as a look-up in a table if its base register was last given the address of constant data and
//! an index is added to it. Loads at a fixed distance from such an address are constants. Not seen: a table
//! that was copied onto the stack first; the memcheck gate sees those.

use std::collections::BTreeSet;
use std::ops::Range;

/// One function, with every inlined one in it.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct Function {
    /// As objdump demangles it, without the hash.
    pub name: String,
    /// In the order of their addresses.
    pub instructions: Vec<Instruction>,
}

/// One instruction.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct Instruction {
    /// Where it stands.
    pub address: u64,
    /// Mnemonic and operands.
    pub text: String,
}

/// What an instruction does that needs an excuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "matched in full by the gate")]
pub enum Finding {
    /// Divides integers.
    Division,
    /// Loads from addresses in a vector.
    Gather,
    /// Loads from constant data at an index.
    Table,
    /// Loads where to jump.
    JumpTable,
}

/// The functions of a listing.
#[must_use]
pub fn functions(listing: &str) -> Vec<Function> {
    let mut functions: Vec<Function> = Vec::new();
    for line in listing.lines() {
        if let Some(name) = heading(line) {
            functions.push(Function {
                name: name.to_owned(),
                instructions: Vec::new(),
            });
        } else if let (Some(function), Some(instruction)) =
            (functions.last_mut(), instruction(line))
        {
            function.instructions.push(instruction);
        }
    }
    functions
}

/// `0000000000001000 <name>:`
fn heading(line: &str) -> Option<&str> {
    let (address, name) = line.split_once(" <")?;
    u64::from_str_radix(address, 16).ok()?;
    name.strip_suffix(">:")
}

/// `    1000:\tdiv    rcx`
fn instruction(line: &str) -> Option<Instruction> {
    let (address, text) = line.split_once(":\t")?;
    Some(Instruction {
        address: u64::from_str_radix(address.trim(), 16).ok()?,
        text: text.trim().to_owned(),
    })
}

/// Sections of `objdump -h` that hold data which is the same in every run.
#[must_use]
pub fn constant_data(headers: &str) -> Vec<Range<u64>> {
    let section = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, name, size, address, ..] = words.as_slice() else {
            return None;
        };
        if ![".rodata", ".data.rel.ro", ".data"].contains(name) {
            return None;
        }
        let (size, address) = (
            u64::from_str_radix(size, 16).ok()?,
            u64::from_str_radix(address, 16).ok()?,
        );
        Some(address..address + size)
    };
    headers.lines().filter_map(section).collect()
}

/// What stands in a function, with its addresses.
#[must_use]
pub fn findings(function: &Function, constants: &[Range<u64>]) -> Vec<(u64, Finding)> {
    let mut bases = BTreeSet::new();
    let mut found = Vec::new();
    for Instruction { address, text } in &function.instructions {
        let (mnemonic, operands) = text.split_once(' ').unwrap_or((text, ""));
        let operands = operands.trim();
        let finding = if ["div", "idiv"].contains(&mnemonic) {
            Some(Finding::Division)
        } else if mnemonic.contains("gather") || mnemonic.starts_with("xlat") {
            Some(Finding::Gather)
        } else if !is_inert(mnemonic) && is_indexed(operands, &bases) {
            Some(match mnemonic {
                "movsxd" | "jmp" => Finding::JumpTable,
                _ => Finding::Table,
            })
        } else {
            None
        };
        found.extend(finding.map(|finding| (*address, finding)));
        follow(mnemonic, operands, constants, &mut bases);
    }
    found
}

/// Neither loads nor stores, whatever its operands look like.
fn is_inert(mnemonic: &str) -> bool {
    ["lea", "nop", "data16", "cs"].contains(&mnemonic)
}

/// Whether an address is made of a base and something that varies.
fn is_indexed(operands: &str, bases: &BTreeSet<String>) -> bool {
    let inside = operands
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    let Some((address, _)) = inside else {
        return false;
    };
    let registers: Vec<String> = address
        .split(['+', '-'])
        .map(|part| part.split('*').next().unwrap_or_default())
        .filter(|part| !part.starts_with("0x"))
        .map(register)
        .collect();
    registers.len() > 1 && registers.iter().any(|register| bases.contains(register))
}

/// Which registers hold an address of constant data after the instruction.
fn follow(mnemonic: &str, operands: &str, constants: &[Range<u64>], bases: &mut BTreeSet<String>) {
    if mnemonic == "call" {
        for lost in ["rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11"] {
            bases.remove(lost);
        }
        return;
    }
    let Some((target, source)) = operands.split_once(',') else {
        return;
    };
    if target.contains('[') || ["cmp", "test", "bt"].contains(&mnemonic) {
        return;
    }
    let target = register(target);
    let address = source
        .split_once("# ")
        .and_then(|(_, rest)| rest.split_whitespace().next())
        .and_then(|address| u64::from_str_radix(address, 16).ok());
    let is_constant = |address| constants.iter().any(|range| range.contains(&address));
    let copied = mnemonic == "mov" && bases.contains(&register(source));
    if copied || (mnemonic == "lea" && address.is_some_and(is_constant)) {
        bases.insert(target);
    } else if mnemonic != "add" && mnemonic != "sub" {
        bases.remove(&target);
    }
}

/// The name of the whole register.
fn register(name: &str) -> String {
    let name = name.trim();
    match name.as_bytes() {
        [b'e', ..] => format!("r{}", name.get(1..).unwrap_or_default()),
        [b'r', b'0'..=b'9', ..] => name.trim_end_matches(['d', 'w', 'b']).to_owned(),
        _ => name.to_owned(),
    }
}
