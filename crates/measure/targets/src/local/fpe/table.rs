//! The table: a line for each group of operations that differ in one thing. Names are made from the tasks,
//! so that none can say one thing and do another.

use std::sync::LazyLock;

use keywright_fpe::Mode;

use super::super::row::TARGET;
use super::task::{Cipher, Symbols, Task, Way};
use crate::operation::{Make, Operation};

/// Every operation of this module, and of its peers where they are built.
#[must_use]
pub fn operations() -> &'static [Operation] {
    static OPERATIONS: LazyLock<Vec<Operation>> = LazyLock::new(|| {
        let own = tasks().into_iter().map(operation);
        #[cfg(feature = "peers")]
        let own = own.chain(super::peers::OPERATIONS.iter().copied());
        own.collect()
    });
    &OPERATIONS
}

fn operation(task: Task) -> Operation {
    Operation {
        // Made once and needed as long as the program runs.
        name: task.to_string().leak(),
        target: TARGET,
        unit: match task.way.is_batch() {
            true => "records",
            false => "operations",
        },
        units: task.records().into(),
        bytes: task.bytes(),
        make: Make::Fpe(task),
    }
}

const MODES: [Mode; 3] = [Mode::Ff1, Mode::Ff3, Mode::Ff31];
const TEN: Symbols = Symbols::Radix(10);

/// What every mode does with every cipher on sixteen decimal digits.
const WAYS: [Way; 10] = [
    Way::Single,
    Way::SingleTweak,
    Way::Decrypt,
    Way::Oneshot,
    Way::Inplace,
    Way::Separate,
    Way::Batch,
    Way::BatchDecrypt,
    Way::BatchDigits,
    Way::BatchTweaks,
];

/// Threads of the published tables, and two, the cores of the machine that numbers are quoted for.
const THREADS: [u32; 5] = [1, 2, 4, 8, 16];

/// Other symbols with the lengths that they have in use, one value and many.
const SHAPES: [(Symbols, u32); 9] = [
    (Symbols::Radix(2), 64),
    (Symbols::Radix(16), 16),
    (Symbols::Radix(26), 16),
    (Symbols::Radix(36), 20),
    (Symbols::Radix(62), 24),
    (Symbols::Radix(256), 24),
    (Symbols::Radix(65_536), 8),
    (Symbols::Base(36), 20),
    (Symbols::Base(62), 24),
];

/// The same for FF1 alone, whose values may be longer.
const FF1_SHAPES: [(Symbols, u32); 3] = [
    (Symbols::Radix(94), 32),
    (Symbols::Radix(256), 32),
    (Symbols::Base(64), 32),
];

/// Lengths of single decimal values, and of those that only FF1 takes.
const LENGTHS: [u32; 8] = [6, 9, 12, 19, 24, 32, 38, 56];
const FF1_LENGTHS: [u32; 9] = [
    64, 128, 256, 1_000, 4_096, 10_000, 100_000, 500_000, 1_000_000,
];

fn tasks() -> Vec<Task> {
    let aes128 = |mode| Task {
        mode,
        cipher: Cipher::Aes128,
        symbols: TEN,
        digits: 16,
        way: Way::Single,
    };
    let ff1 = aes128(Mode::Ff1);
    let mut tasks = Vec::new();
    for mode in MODES {
        for cipher in Cipher::ALL {
            let task = Task {
                cipher,
                ..aes128(mode)
            };
            tasks.extend(WAYS.map(|way| Task { way, ..task }));
        }
    }
    for mode in MODES {
        for cipher in [Cipher::Aes128, Cipher::Sm4] {
            let task = Task {
                cipher,
                ..aes128(mode)
            };
            let over = |threads| Task {
                way: Way::Threads(threads),
                ..task
            };
            tasks.extend(THREADS.map(over));
        }
    }
    let short = MODES.map(|mode| SHAPES.map(|shape| (mode, shape)));
    let long = FF1_SHAPES.map(|shape| (Mode::Ff1, shape));
    for (mode, (symbols, digits)) in short.into_iter().flatten().chain(long) {
        let task = Task {
            symbols,
            digits,
            ..aes128(mode)
        };
        let ways = [Way::Single, Way::Decrypt, Way::Batch, Way::BatchDecrypt];
        tasks.extend(ways.map(|way| Task { way, ..task }));
    }
    for mode in MODES {
        let of = |digits| Task {
            digits,
            ..aes128(mode)
        };
        tasks.extend(LENGTHS.map(of));
    }
    tasks.extend(FF1_LENGTHS.map(|digits| Task { digits, ..ff1 }));
    // Sixteen stands above.
    let many = |digits| Task {
        digits,
        way: Way::Batch,
        ..ff1
    };
    tasks.extend((9..=38).filter(|digits| *digits != 16).map(many));
    tasks
}
