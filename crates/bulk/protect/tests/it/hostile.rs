//! Damaged files by the thousand.

use keywright_mutate::{mutants, mutations};
use keywright_protect::fuzzing;

const FILES: [&[u8]; 9] = [
    b"id\tnote\tx\n123456\t\"efg\tC2\n234567\t\"\t\n\"345678\"\ta\"b\t3",
    b"a,b\n1234567,\"x,y\n7654321,\"\"z\"\n\"123\n456\",\"\r\n,\"\r\n",
    b"a,\"b\n123456,c\"\nabcdef,\"1\r2\"\nabcdefg,\"3\n234567,4\"\n",
    b"a,b\n123456,x\n\"abcdef\",\"y,\"\"z\"\"\"\r\n",
    b"\xef\xbb\xbfa;b;c\r\n1234567;2;\"3\n\"\r\n;;\r\n",
    b"a\n123456\n\n\"\"\nabcdef",
    b"id\tname\n\"99999999\"\tx\n12\ty\n",
    b"a|b\n123456|\"\n",
    b"a,b\n123456,1,2\n",
];

#[test]
fn damaged_files_come_back_or_are_refused() {
    for file in FILES {
        fuzzing::file(file);
    }
    for mutant in mutations(&FILES, mutants(), 0x6275_6c6b) {
        fuzzing::file(&mutant);
    }
}

#[test]
fn damaged_descriptions_are_read_as_what_they_say_or_refused() {
    let seeds: [&[u8]; 3] = [
        br#"{"keywright_protection":1,"columns":[{"name":"a","format":"digit(6..40)","tweak":"column","cipher":"aes-256","small_domain":false,"key":{"id":"00","version":1,"check":"00","mac":"00"}}]}"#,
        br#"{"keywright_protection":1,"columns":[{"name":"b","mask":"null","small_domain":false}]}"#,
        br#"{"keywright_protection":2,"columns":[]}"#,
    ];
    for mutant in mutations(&seeds, mutants(), 0x7072_6f74) {
        fuzzing::protection(&mutant);
    }
}
