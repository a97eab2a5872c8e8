//! What the search for instructions finds and what it leaves alone.

use keywright_fpe_gates::disassembly::{Finding, constant_data, findings, functions};
use keywright_fpe_gates::places;

const HEADERS: &str =
    "  0 .text         00001000  0000000000001000  0000000000001000  00001000  2**4
 12 .rodata       00000100  0000000000008000  0000000000008000  00008000  2**5
 13 .bss          00000100  0000000000009000  0000000000009000  00009000  2**5";

fn found(lines: &[&str]) -> Vec<Finding> {
    let mut listing = String::from("0000000000001000 <keywright_fpe::kernel::x::y>:\n");
    for (number, line) in (0..).zip(lines) {
        listing += &format!("    {:x}:\t{line}\n", 0x1000 + 4 * number);
    }
    let functions = functions(&listing);
    assert_eq!(functions.len(), 1);
    assert_eq!(functions[0].instructions.len(), lines.len());
    let found = findings(&functions[0], &constant_data(HEADERS));
    found.into_iter().map(|(_, finding)| finding).collect()
}

#[test]
fn divisions_and_gathers_are_found() {
    for line in ["div    rcx", "idiv   esi", "div    QWORD PTR [rsp+0x8]"] {
        assert_eq!(found(&[line]), [Finding::Division]);
    }
    let gather = "vpgatherdd zmm1{k1},DWORD PTR [rax+zmm2*4]";
    assert_eq!(found(&[gather]), [Finding::Gather]);
    for line in [
        "vdivpd zmm0,zmm1,zmm2",
        "mul    rcx",
        "mulx   rax,rcx,rdx",
        "divider",
    ] {
        assert_eq!(found(&[line]), []);
    }
}

#[test]
fn loads_at_an_index_of_constant_data_are_found() {
    let table = "lea    rax,[rip+0x7000]        # 8010 <anon>";
    for load in [
        "movzx  eax,BYTE PTR [rax+rcx*1]",
        "xor    edx,DWORD PTR [rax+rcx*4+0x10]",
        "mov    rdx,QWORD PTR [rcx+rax*1]",
        "vmovdqu xmm0,XMMWORD PTR [rax+r9*8]",
    ] {
        assert_eq!(found(&[table, load]), [Finding::Table], "{load}");
        assert_eq!(found(&[table, "mov    rax,rdi", load]), [], "{load}");
        assert_eq!(found(&[table, "xor    eax,eax", load]), [], "{load}");
        assert_eq!(found(&[table, "call   1000 <f>", load]), [], "{load}");
        assert_eq!(found(&[load]), [], "{load}");
    }
    let copied = [table, "mov    rbx,rax", "mov    al,BYTE PTR [rbx+rcx*1]"];
    assert_eq!(found(&copied), [Finding::Table]);
    let jump = [table, "movsxd rcx,DWORD PTR [rax+rcx*4]"];
    assert_eq!(found(&jump), [Finding::JumpTable]);
}

#[test]
fn constants_at_a_fixed_place_and_other_memory_are_left_alone() {
    let table = "lea    rax,[rip+0x7000]        # 8010 <anon>";
    for line in [
        "vmovdqa ymm0,YMMWORD PTR [rax+0x20]",
        "lea    rdx,[rax+rcx*1]",
        "nop    WORD PTR [rax+rax*1+0x0]",
        "movzx  eax,BYTE PTR [rsp+rcx*1]",
    ] {
        assert_eq!(found(&[table, line]), [], "{line}");
    }
    let elsewhere = "lea    rax,[rip+0x8000]        # 9010 <state>";
    assert_eq!(found(&[elsewhere, "mov    dl,BYTE PTR [rax+rcx*1]"]), []);
}

#[test]
fn nothing_is_excused_in_a_kernel() {
    let iterator = ("next<u8>", "library/core/src/slice/iter.rs:1579");
    let wave = "keywright_fpe::kernel::blocks::aes_128_wave";
    let driver = "keywright_fpe::batch::driver::Course::run";
    for finding in [
        Finding::Division,
        Finding::Gather,
        Finding::Table,
        Finding::JumpTable,
    ] {
        assert!(!places::is_public(finding, wave, iterator));
    }
    assert!(places::is_public(Finding::Division, driver, iterator));
    assert!(places::is_public(Finding::JumpTable, driver, iterator));
    assert!(!places::is_public(Finding::Table, driver, iterator));
    let digits = (
        "number<u8>",
        "crates/standards/fpe/src/arithmetic/digits.rs:61",
    );
    assert!(!places::is_public(Finding::Division, driver, digits));
    let reciprocal = (
        "keywright_fpe::kernel::digits::Converter::new",
        "standards/fpe/src/kernel/digits.rs:9",
    );
    assert!(places::is_public(Finding::Division, driver, reciprocal));
    let other = (
        "keywright_fpe::kernel::digits::Converter::read",
        "standards/fpe/src/kernel/digits.rs:9",
    );
    assert!(!places::is_public(Finding::Division, driver, other));
}

#[test]
fn a_kernel_that_is_gone_is_missed() {
    assert_eq!(places::missing(&[]), places::KERNELS);
    let one = functions("0000000000001000 <keywright_fpe::kernel::blocks::aes_128_wave>:\n");
    assert_eq!(places::missing(&one).len(), places::KERNELS.len() - 1);
}
