//! What the recorder costs: a call that does next to nothing, and AES-GCM from 32 bytes to 64 KiB, with and without
//! it, on the same module, session and key in the same process.
//!
//! Blocks of both take turns, ABBA, each long against the pauses of the writer, so that a drift of the machine falls
//! on both and the writer's work on the blocks that are recorded. The bar: at most 1000 ns a call, and 5 % of the
//! throughput of AES-GCM, at the median of the blocks. The exit code is 3 if it is missed, 4 if a token is not here.
//! Records go to a file in a folder that is gone afterwards; each token has a process of its own.
//!
//! `--only plain|recorded TOKEN CALLS BYTES` makes calls on one side alone, for whoever counts instructions or system
//! calls: `TOKEN` is `softhsm` or `kryoptic`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for whoever measures: what goes wrong ends it"
)]
#![expect(unsafe_code, reason = "the plain calls of C are what is measured")]

use std::ffi::{CString, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::ptr::null_mut;

use cryptoki_sys::*;
use keywright_clock::Clock;
use keywright_tokens::{Kind, Store};

/// How long a block lasts about, and how many quartets of blocks there are.
const BLOCK_NS: f64 = 25e6;
const QUARTETS: usize = 24;
const SIZES: [usize; 5] = [32, 1024, 4096, 16 * 1024, 64 * 1024];
const NANOSECONDS: f64 = 1000.0;
const SHARE: f64 = 0.05;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [_, "--on", module] => return ExitCode::from(measure(Path::new(module))),
        [_, "--side", side, module, calls, bytes] => {
            one_side(
                side,
                Path::new(module),
                calls.parse().unwrap(),
                bytes.parse().unwrap(),
            );
            return ExitCode::SUCCESS;
        }
        [program, "--only", side, token, calls, bytes] => {
            let kind = Kind::ALL
                .into_iter()
                .find(|kind| kind.name().to_lowercase().starts_with(token));
            let store = Store::new(kind.unwrap(), &["keywright"]).unwrap();
            let module = store.kind().module().unwrap();
            return ExitCode::from(run(
                &store,
                program,
                &["--side", side, module.to_str().unwrap(), calls, bytes],
            ));
        }
        _ => {}
    }
    let codes = Kind::ALL.map(|kind| match Store::new(kind, &["keywright"]) {
        Ok(store) => in_another(&store, words[0]),
        Err(missing) => {
            println!("{}: not measured: {missing}", kind.name());
            4
        }
    });
    ExitCode::from(if codes.contains(&3) {
        3
    } else {
        codes[0].max(codes[1])
    })
}

fn in_another(store: &Store, program: &str) -> u8 {
    println!("{}", store.kind().name());
    let module = store.kind().module().unwrap();
    let code = run(store, program, &["--on", module.to_str().unwrap()]);
    let text = std::fs::read_to_string(store.folder().join("calls.jsonl")).unwrap();
    let dropped = text.matches("\"dropped\":").count();
    println!("  {} records, {dropped} gaps", text.lines().count());
    code
}

fn run(store: &Store, program: &str, arguments: &[&str]) -> u8 {
    let status = store
        .command(program)
        .args(arguments)
        .env("KEYWRIGHT_P11_TARGET", store.kind().module().unwrap())
        .env("KEYWRIGHT_P11_LOG", store.folder().join("calls.jsonl"))
        .status()
        .unwrap();
    u8::try_from(status.code().unwrap_or(1)).unwrap_or(1)
}

/// The recorder, built along with this program.
fn recorder() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let folder = program.ancestors().nth(2).unwrap();
    folder.join("deps/libkeywright_pkcs11_recorder.so")
}

fn list(path: &Path) -> CK_FUNCTION_LIST {
    let name = CString::new(path.as_os_str().as_bytes()).unwrap();
    let mut list = null_mut();
    // SAFETY: a PKCS#11 module with its one symbol; it writes a pointer to its table.
    unsafe {
        let library = libc::dlopen(name.as_ptr(), libc::RTLD_NOW);
        let symbol = libc::dlsym(library, c"C_GetFunctionList".as_ptr());
        let function: CK_C_GetFunctionList = std::mem::transmute(symbol);
        assert_eq!(function.unwrap()(&raw mut list), CKR_OK);
        *list
    }
}

fn measure(module: &Path) -> u8 {
    let [plain, recorded] = [list(module), list(&recorder())];
    let (session, key) = prepared(&plain);
    let mut info = CK_SESSION_INFO::default();
    // SAFETY: an open session and a place for the answer.
    let small = |list: &CK_FUNCTION_LIST| unsafe {
        assert_eq!(
            list.C_GetSessionInfo.unwrap()(session, &raw mut info),
            CKR_OK
        );
    };
    let small = compare([&plain, &recorded], small);
    println!(
        "  a call: {:.0} ns alone, {:+.0} ns recorded; of the thread {:.0} ns, {:+.0} ns",
        small.plain, small.added, small.thread_plain, small.thread_added
    );
    let mut good = small.added <= NANOSECONDS;
    let mut nonce = 0_u64;
    for size in SIZES {
        let mut message = vec![7_u8; size];
        let mut out = vec![0_u8; size + 64];
        let seal = |list: &CK_FUNCTION_LIST| {
            nonce += 1;
            seal(list, (session, key), nonce, (&mut message, &mut out));
        };
        let seal = compare([&plain, &recorded], seal);
        let share = seal.added / seal.plain;
        good &= share <= SHARE;
        println!(
            "  AES-GCM of {size} bytes: {:.2} us alone, {:+.0} ns recorded, {:+.2} %; of the thread {:+.0} ns, {:+.2} %",
            seal.plain / 1000.0,
            seal.added,
            share * 100.0,
            seal.thread_added,
            seal.thread_added / seal.thread_plain * 100.0
        );
    }
    if good { 0 } else { 3 }
}

/// Calls on one side, and nothing else.
fn one_side(side: &str, module: &Path, calls: u64, size: usize) {
    let list = match side {
        "plain" => list(module),
        _ => list(&recorder()),
    };
    let (session, key) = prepared(&list);
    let (mut message, mut out) = (vec![7_u8; size], vec![0_u8; size + 64]);
    for nonce in 0..calls {
        seal(&list, (session, key), nonce, (&mut message, &mut out));
    }
}

/// An open session and a key for AES in it.
fn prepared(list: &CK_FUNCTION_LIST) -> (CK_SESSION_HANDLE, CK_OBJECT_HANDLE) {
    let mut slots = [0; 8];
    let (mut count, mut session, mut key) = (8, 0, 0);
    let (mut length, mut no, mut yes) = (32_u64, CK_FALSE, CK_TRUE);
    let attribute = |type_, value: *mut c_void, len: usize| CK_ATTRIBUTE {
        type_,
        pValue: value,
        ulValueLen: len as CK_ULONG,
    };
    let mut template = [
        attribute(CKA_VALUE_LEN, (&raw mut length).cast(), 8),
        attribute(CKA_TOKEN, (&raw mut no).cast(), 1),
        attribute(CKA_PRIVATE, (&raw mut no).cast(), 1),
        attribute(CKA_ENCRYPT, (&raw mut yes).cast(), 1),
    ];
    let mut mechanism = CK_MECHANISM {
        mechanism: CKM_AES_KEY_GEN,
        pParameter: null_mut(),
        ulParameterLen: 0,
    };
    let pin = keywright_tokens::USER_PIN.as_bytes();
    // SAFETY: outputs and lengths as the standard has them; everything outlives the calls.
    unsafe {
        assert_eq!(list.C_Initialize.unwrap()(null_mut()), CKR_OK);
        let of = list.C_GetSlotList.unwrap();
        assert_eq!(of(CK_TRUE, slots.as_mut_ptr(), &raw mut count), CKR_OK);
        let open = list.C_OpenSession.unwrap();
        let flags = CKF_SERIAL_SESSION | CKF_RW_SESSION;
        assert_eq!(
            open(slots[0], flags, null_mut(), None, &raw mut session),
            CKR_OK
        );
        let login = list.C_Login.unwrap();
        let length = pin.len() as CK_ULONG;
        assert_eq!(
            login(session, CKU_USER, pin.as_ptr().cast_mut(), length),
            CKR_OK
        );
        let generate = list.C_GenerateKey.unwrap();
        let made = generate(
            session,
            &raw mut mechanism,
            template.as_mut_ptr(),
            4,
            &raw mut key,
        );
        assert_eq!(made, CKR_OK);
    }
    (session, key)
}

fn seal(
    list: &CK_FUNCTION_LIST,
    (session, key): (CK_SESSION_HANDLE, CK_OBJECT_HANDLE),
    nonce: u64,
    (message, out): (&mut [u8], &mut [u8]),
) {
    let mut iv = [0; 12];
    iv[4..].copy_from_slice(&nonce.to_be_bytes());
    let mut gcm = CK_GCM_PARAMS {
        pIv: iv.as_mut_ptr(),
        ulIvLen: 12,
        ulIvBits: 96,
        pAAD: null_mut(),
        ulAADLen: 0,
        ulTagBits: 128,
    };
    let mut mechanism = CK_MECHANISM {
        mechanism: CKM_AES_GCM,
        pParameter: (&raw mut gcm).cast(),
        ulParameterLen: size_of::<CK_GCM_PARAMS>() as CK_ULONG,
    };
    let mut length = out.len() as CK_ULONG;
    // SAFETY: lengths of the buffers that are given; everything outlives the calls.
    unsafe {
        assert_eq!(
            list.C_EncryptInit.unwrap()(session, &raw mut mechanism, key),
            CKR_OK
        );
        let rv = list.C_Encrypt.unwrap()(
            session,
            message.as_mut_ptr(),
            message.len() as CK_ULONG,
            out.as_mut_ptr(),
            &raw mut length,
        );
        assert_eq!(rv, CKR_OK);
    }
}

/// Nanoseconds of a call: alone, and what the recorder adds; medians over the quartets. Then the same in processor
/// time of the calling thread, which is what is left of them on a machine that is busy with something else.
struct Cost {
    plain: f64,
    added: f64,
    thread_plain: f64,
    thread_added: f64,
}

/// Processor time of this thread, in nanoseconds.
fn thread_time() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a place for a time.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

fn compare(lists: [&CK_FUNCTION_LIST; 2], mut call: impl FnMut(&CK_FUNCTION_LIST)) -> Cost {
    let clock = Clock::system();
    let mut block = |which: usize, calls: u32| {
        let (before, thread) = (clock.monotonic(), thread_time());
        for _ in 0..calls {
            call(lists[which]);
        }
        let took = clock.monotonic().since(before).as_secs_f64() * 1e9;
        [took, thread_time() - thread].map(|time| time / f64::from(calls))
    };
    // What comes first pays for cold caches, and does not count.
    let once = block(0, 1000)[0].min(block(1, 1000)[0]);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 100 and a million"
    )]
    let calls = (BLOCK_NS / once).clamp(100.0, 1e6) as u32;
    let (mut plain, mut added) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for quartet in 0..=QUARTETS {
        let [a, b, c, d] = [0, 1, 1, 0].map(|which| {
            let took = block(which, calls);
            if which == 1 {
                // The writer catches up before the other side has its turn.
                std::thread::sleep(std::time::Duration::from_millis(15));
            }
            took
        });
        for clock in 0..2 {
            if quartet > 0 {
                let alone = f64::midpoint(a[clock], d[clock]);
                plain[clock].push(alone);
                added[clock].push(f64::midpoint(b[clock], c[clock]) - alone);
            }
        }
    }
    let [[plain, thread_plain], [added, thread_added]] =
        [plain, added].map(|both| both.map(median));
    Cost {
        plain,
        added,
        thread_plain,
        thread_added,
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
