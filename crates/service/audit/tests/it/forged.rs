//! What somebody appends who can write the folder and has no key: it is chained as it should be, and nothing is made of
//! it, now or after the next head has covered it (design 7.33).

use std::fs;
use std::path::{Path, PathBuf};

use keywright_audit::chain::{FileId, Origin};
use keywright_audit::check::CheckKey;
use keywright_audit::field::Field;
use keywright_audit::head::{HeadId, SignedHead, Statement};
use keywright_audit::log::Log;
use keywright_audit::record::{Facts, Record};
use keywright_audit::replay::later;
use keywright_audit::show::{Filter, show};
use keywright_audit::{AuditError, Evidence, Fault, HeadKind, RecordType, Room, testing};
use keywright_forgery::ForgedFile;
use keywright_types::{BootId, Code, KeyVersion, NodeId, Operation, PrincipalId};
use tempfile::TempDir;

use crate::support::*;

/// A file that begins with this origin.
fn begin(dir: &Path, origin: Origin) -> ForgedFile {
    let (file, head) = (origin.file, origin.newest_head);
    let parts: [&[u8]; 5] = [
        origin.installation.as_bytes(),
        origin.node.as_bytes(),
        file.boot.as_bytes(),
        &file.writer.to_be_bytes(),
        &head,
    ];
    let mut chain = ForgedFile::new(&dir.join(file.file_name()), &parts);
    let facts = Facts::new(RecordType::FileStart, Operation::NodeStart, request(1).time);
    let fields = [
        Field::Installation(origin.installation),
        Field::Node(origin.node),
        Field::Boot(file.boot),
        Field::Writer(file.writer),
        Field::NewestHead(head),
    ];
    append(&mut chain, facts, &fields);
    chain
}

fn append(chain: &mut ForgedFile, facts: Facts, fields: &[Field<'_>]) {
    let mut body = Vec::new();
    Record { facts, fields }.put(0, &mut body);
    chain.append(&body);
}

/// A log whose process died with three requests under a head and two behind it.
fn crashed() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (clock, _hand) = still();
    let mut settings = settings(folder.path());
    settings.clock = clock;
    let log = Log::open(settings).unwrap();
    let mut writer = log.writer().unwrap();
    append_all(&mut writer, 0..3);
    log.sign_head().unwrap();
    append_all(&mut writer, 3..5);
    testing::crash(log);
    folder
}

fn last_file(dir: &Path) -> PathBuf {
    record_files(dir).pop().unwrap()
}

/// One record of each type, as an attacker words them: far beyond the epoch, in another's name.
fn forged(kind: RecordType) -> Facts {
    Facts {
        kind,
        epoch: u64::MAX,
        principal: PrincipalId::from_bytes([0xEE; 16]),
        operation: Operation::KeyDestroy,
        outcome: Code::Ok,
        version: KeyVersion::FIRST,
        ..request(900)
    }
}

/// The evidence that each record of a file is shown with.
fn shown(dir: &Path, path: &Path) -> Vec<String> {
    let records = show(dir, Filter::default()).unwrap();
    let records = records.map(|record| record.unwrap());
    records
        .filter(|record| record["file"] == name(path))
        .map(|record| record["evidence"].as_str().unwrap().to_owned())
        .collect()
}

fn newest_head(dir: &Path) -> SignedHead {
    let mut heads: Vec<_> = head_files(dir)
        .iter()
        .flat_map(|path| heads(path))
        .collect();
    heads.sort_by_key(|head| head.head().number);
    heads.pop().unwrap()
}

fn heads(path: &Path) -> Vec<SignedHead> {
    let bytes = fs::read(path).unwrap();
    let at = head_boundaries(&bytes);
    let heads = at.windows(2).map(|pair| &bytes[pair[0] + 4..pair[1]]);
    heads
        .map(|head| SignedHead::from_bytes(head).unwrap())
        .collect()
}

/// Opens and ends the log twice: a forged epoch stops neither, no order is found, the tail is marked in each first head,
/// and the log verifies with so many records marked.
fn survives(folder: &Path, path: &Path, unproven: u64) {
    for round in 0..2 {
        let mut log = Log::open(settings(folder)).unwrap();
        assert!(log.damage().is_empty(), "{:?}", log.damage());
        assert_eq!(log.unproven(), if round == 0 { unproven } else { 0 });
        assert!(log.take_unfinished().is_empty());
        log.shutdown().unwrap();
        let newest = newest_head(folder);
        assert_eq!(newest.head().epoch, 3, "no forged epoch is taken over");
        let report = verify(folder).unwrap();
        assert_eq!((report.unproven, report.unsigned), (unproven, 0));
        let evidence = shown(folder, path);
        let marked = evidence.iter().rev().take_while(|one| *one == "unproven");
        assert_eq!(marked.count() as u64, unproven, "{evidence:?}");
        let signed = evidence.len() - usize::try_from(unproven).unwrap();
        assert!(evidence[..signed].iter().all(|one| one == "signed"));
    }
    let all = head_files(folder).into_iter().flat_map(|path| heads(&path));
    let starts = all.filter(|head| {
        matches!(&head.head().statement, Statement::StartUnproven(tails) if tails.len() == 1)
    });
    assert_eq!(starts.count(), if unproven > 0 { 2 } else { 0 });
}

#[test]
fn forged_tail_of_every_record_type_is_marked_and_not_believed() {
    for kind in RecordType::ALL {
        let folder = crashed();
        let path = last_file(folder.path());
        let mut chain = ForgedFile::read(&path);
        append(&mut chain, forged(*kind), &[]);
        chain.write();
        assert_eq!(verify(folder.path()).unwrap().unsigned, 3, "{kind}");
        let later = later(folder.path(), 2, &check_key()).unwrap();
        assert_eq!(later.unproven, 1);
        let believed = later
            .orders
            .iter()
            .filter(|order| order.evidence != Evidence::Unproven);
        assert_eq!(believed.count(), 0);
        // One order that nothing proves may stand for one epoch.
        assert!(later.newest_epoch <= 4, "{}", later.newest_epoch);
        survives(folder.path(), &path, 1);
    }
}

#[test]
fn genuine_tail_is_proven_and_adopted_without_a_mark() {
    let folder = crashed();
    let path = last_file(folder.path());
    assert_eq!(shown(folder.path(), &path)[4..], ["unsigned", "unsigned"]);
    assert_eq!(later(folder.path(), 2, &check_key()).unwrap().unproven, 0);
    survives(folder.path(), &path, 0);
}

#[test]
fn tail_without_its_check_frames_is_unproven() {
    // As a log of a version before check frames, and as a write that was cut off before its end.
    let folder = crashed();
    let path = last_file(folder.path());
    let bytes = fs::read(&path).unwrap();
    let stated = boundaries(&bytes)[4];
    let mut stripped = bytes[..stated].to_vec();
    for (start, frame) in record_frames(&bytes) {
        if start >= stated && !frame.starts_with(&[0; 4]) {
            stripped.extend_from_slice(frame);
        }
    }
    fs::write(&path, &stripped).unwrap();
    assert_eq!(later(folder.path(), 2, &check_key()).unwrap().unproven, 2);
    survives(folder.path(), &path, 2);
}

#[test]
fn torn_check_frame_leaves_its_write_unproven_and_is_no_tampering() {
    let whole = crashed();
    let length = fs::read(last_file(whole.path())).unwrap().len();
    for cut in 1..CHECK_LEN {
        let folder = copy(whole.path());
        let path = last_file(folder.path());
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..length - cut]).unwrap();
        let report = verify(folder.path()).unwrap();
        assert_eq!((report.unsigned, report.cut), (2, 1), "{cut}");
        let later = later(folder.path(), 2, &check_key()).unwrap();
        assert_eq!(later.unproven, 1, "{cut}");
        if cut % 16 == 1 {
            let log = Log::open(settings(folder.path())).unwrap();
            assert!(log.damage().is_empty());
            assert_eq!(log.unproven(), 1);
            log.shutdown().unwrap();
            let report = verify(folder.path()).unwrap();
            assert_eq!((report.unproven, report.cut), (1, 1));
        }
    }
}

#[test]
fn forged_record_under_a_torn_frame_is_not_believed() {
    let folder = crashed();
    let path = last_file(folder.path());
    let mut chain = ForgedFile::read(&path);
    append(&mut chain, forged(RecordType::OrderBefore), &[]);
    chain.check(&[0; 32]);
    chain.bytes.truncate(chain.bytes.len() - 20);
    chain.write();
    assert_eq!(later(folder.path(), 2, &check_key()).unwrap().unproven, 1);
    survives(folder.path(), &path, 1);
}

#[test]
fn check_frame_of_another_key_file_or_place_proves_nothing() {
    let genuine = crashed();
    let frames: Vec<Vec<u8>> = record_files(genuine.path())
        .iter()
        .flat_map(|path| {
            let bytes = fs::read(path).unwrap();
            let frames = record_frames(&bytes).into_iter();
            let checks = frames.filter(|(_, frame)| frame.starts_with(&[0; 4]));
            checks.map(|(_, frame)| frame.to_vec()).collect::<Vec<_>>()
        })
        .collect();
    assert!(frames.len() > 4);
    let path = last_file(genuine.path());
    // A frame of another place, with the 8 bytes that fit here.
    for frame in &frames {
        let folder = copy(genuine.path());
        let path = last_file(folder.path());
        let mut chain = ForgedFile::read(&path);
        append(&mut chain, forged(RecordType::OrderAfter), &[]);
        chain.put_check(&frame[4..36]);
        chain.write();
        assert_eq!(later(folder.path(), 2, &check_key()).unwrap().unproven, 1);
    }
    let mut chain = ForgedFile::read(&path);
    append(&mut chain, forged(RecordType::OrderAfter), &[]);
    chain.check(&[7; 32]);
    chain.write();
    survives(genuine.path(), &path, 1);
}

#[test]
fn record_forged_inside_a_proven_tail_breaks_the_chain() {
    let folder = crashed();
    let path = last_file(folder.path());
    let bytes = fs::read(&path).unwrap();
    let stated = boundaries(&bytes)[4];
    let mut chain = ForgedFile::read(&path);
    // What was behind the head follows the forged record, with its check frames.
    let tail = chain.bytes.split_off(stated);
    fs::write(&path, &chain.bytes).unwrap();
    let mut chain = ForgedFile::read(&path);
    append(&mut chain, forged(RecordType::OrderAfter), &[]);
    chain.bytes.extend_from_slice(&tail);
    chain.write();
    assert_eq!(fault(folder.path()), Fault::Link);
    let mut log = Log::open(settings(folder.path())).unwrap();
    assert_eq!(log.damage().len(), 1);
    assert_eq!(log.unproven(), 1);
    assert!(log.take_unfinished().is_empty());
    log.shutdown().unwrap();
}

#[test]
fn replayed_older_tail_is_what_the_node_wrote_and_no_more() {
    let folder = crashed();
    let path = last_file(folder.path());
    let bytes = fs::read(&path).unwrap();
    // The tail as it was one write before: it is whole and proven. That it is older, only a newer head tells.
    fs::write(&path, &bytes[..boundaries(&bytes)[5]]).unwrap();
    let later = later(folder.path(), 2, &check_key()).unwrap();
    assert_eq!((later.unproven, later.newest_epoch), (0, 3));
    // Behind the whole tail its repetition does not fit.
    let repeated = [&bytes[..], &bytes[boundaries(&bytes)[4]..]].concat();
    fs::write(&path, repeated).unwrap();
    assert!(matches!(fault(folder.path()), Fault::Link));
}

/// A file that only this node could have begun, were it not for the missing check frame.
fn origin(dir: &Path, boot: BootId, writer: u32) -> Origin {
    Origin {
        installation: IDENTITY.installation,
        node: IDENTITY.node,
        file: FileId { boot, writer },
        newest_head: newest_head(dir).id().hash,
    }
}

#[test]
fn forged_file_is_marked_or_refused() {
    // Of the boot that crashed, and of one that nobody has heard of: a crash can leave both, so they are kept.
    let unknown = BootId::from_bytes([0x77; 16]);
    let boot_of = |dir: &Path| newest_head(dir).head().boot;
    for own in [true, false] {
        let folder = crashed();
        let boot = if own { boot_of(folder.path()) } else { unknown };
        let mut chain = begin(folder.path(), origin(folder.path(), boot, 9));
        append(&mut chain, forged(RecordType::OrderBefore), &[]);
        chain.write();
        survives(folder.path(), &chain.path, 2);
    }
    // Another node, and another head than was newest: not this node's, whatever check frames it has.
    let folder = crashed();
    for foreign in [
        Origin {
            node: NodeId::from_bytes([0x78; 16]),
            ..origin(folder.path(), unknown, 1)
        },
        Origin {
            newest_head: [0x79; 32],
            ..origin(folder.path(), unknown, 2)
        },
    ] {
        let mut chain = begin(folder.path(), foreign);
        append(&mut chain, forged(RecordType::OrderBefore), &[]);
        chain.check(&keywright_audit::fuzzing::CHECK_KEY);
        chain.write();
        assert_eq!(fault(folder.path()), Fault::Origin);
        let mut log = Log::open(settings(folder.path())).unwrap();
        assert_eq!(log.damage()[0].fault, Fault::Origin);
        assert!(log.take_unfinished().is_empty());
        testing::crash(log);
        // It was not adopted: without it the log is whole.
        fs::remove_file(&chain.path).unwrap();
        verify(folder.path()).unwrap();
    }
}

#[test]
fn what_is_appended_behind_an_orderly_end_is_found_and_not_adopted() {
    let folder = small_log(3);
    let path = last_file(folder.path());
    let whole = fs::read(&path).unwrap();
    let mut chain = ForgedFile::read(&path);
    append(&mut chain, forged(RecordType::OrderBefore), &[]);
    chain.write();
    let boot = newest_head(folder.path()).head().boot;
    let added = begin(folder.path(), origin(folder.path(), boot, 9));
    added.write();
    let mut log = Log::open(settings(folder.path())).unwrap();
    let mut faults: Vec<_> = log.damage().iter().map(|finding| finding.fault).collect();
    faults.sort_by_key(|fault| *fault == Fault::Unstated);
    assert_eq!(faults, [Fault::After, Fault::Unstated]);
    assert!(log.take_unfinished().is_empty());
    log.shutdown().unwrap();
    assert!(verify(folder.path()).is_err());
    fs::write(&path, whole).unwrap();
    fs::remove_file(&added.path).unwrap();
    assert_eq!(verify(folder.path()).unwrap().unproven, 0);
}

#[test]
fn tail_of_another_installation_is_unproven() {
    // The same bytes, judged under the key of another store.
    let folder = crashed();
    let mut other = settings(folder.path());
    other.keys.check = CheckKey::from_bytes(&[0x55; 32]);
    let log = Log::open(other).unwrap();
    // Two requests, and what the boot wrote before its first head is under that head.
    assert_eq!(log.unproven(), 2);
    log.shutdown().unwrap();
    assert_eq!(verify(folder.path()).unwrap().unproven, 2);
}

#[test]
fn first_head_with_marks_has_one_spelling() {
    let folder = crashed();
    let path = last_file(folder.path());
    let mut chain = ForgedFile::read(&path);
    append(&mut chain, forged(RecordType::Request), &[]);
    chain.write();
    let log = Log::open(settings(folder.path())).unwrap();
    testing::crash(log);
    let head = newest_head(folder.path());
    let Statement::StartUnproven(tails) = &head.head().statement else {
        panic!("{:?}", head.head().statement)
    };
    let forged = fs::read(&path).unwrap().len() - 150;
    assert_eq!((tails[0].sequence, tails[0].length), (6, forged as u64));
    let bytes = head.to_bytes();
    assert_eq!(SignedHead::from_bytes(&bytes).unwrap(), head);
    for length in 0..bytes.len() {
        assert!(SignedHead::from_bytes(&bytes[..length]).is_err());
    }
    // As the last head of a boot that crashed it may be cut anywhere.
    let path = head_files(folder.path())
        .into_iter()
        .find(|path| heads(path).contains(&head))
        .unwrap();
    let file = fs::read(&path).unwrap();
    for length in [5, 100, 250, file.len() - 100, file.len() - 1] {
        fs::write(&path, &file[..length]).unwrap();
        assert!(verify(folder.path()).is_ok(), "{length}");
    }
}

/// Heads under a key that is not the node's. The last one appoints the node's own, which is public.
struct ForeignHeads {
    signer: Vec<u8>,
    /// The newest head of the node: its signer, and what it states.
    model: Vec<u8>,
    number: u64,
    previous: [u8; 32],
    boot: BootId,
    framed: Vec<u8>,
}

impl ForeignHeads {
    const BOOT: BootId = BootId::from_bytes([0x66; 16]);

    fn after(number: u64, previous: [u8; 32], boot: BootId, model: &SignedHead) -> Self {
        let bytes = model.to_bytes();
        let key = key(9).verifying_key();
        let mut signer = bytes[..6].to_vec();
        signer.extend_from_slice(key.as_bytes());
        let model = match model.head().statement {
            Statement::StartUnproven(_) | Statement::SignerChange(_) => panic!("not a model"),
            _ => bytes[..bytes.len() - 64].to_vec(),
        };
        Self {
            signer,
            model,
            number,
            previous,
            boot,
            framed: Vec::new(),
        }
    }

    fn add(&mut self, kind: HeadKind) {
        self.number += 1;
        let mut signed = [&self.signer, &self.model[38..]].concat();
        signed[38..46].copy_from_slice(&self.number.to_be_bytes());
        signed[62..94].copy_from_slice(&self.previous);
        signed[94] = kind.number();
        signed[127..143].copy_from_slice(self.boot.as_bytes());
        if kind == HeadKind::SignerChange {
            signed.extend_from_slice(&self.model[..38]);
        }
        let labelled = [b"keywright/audit-head/v1", &signed[..]].concat();
        let length = u32::try_from(signed.len()).unwrap();
        self.framed.extend_from_slice(&length.to_be_bytes());
        self.framed.extend_from_slice(&signed);
        self.framed.extend_from_slice(&key(9).sign(&labelled));
        self.previous = keywright_primitives::hash::sha256(&labelled);
    }

    fn write(&self, dir: &Path) -> PathBuf {
        let path = dir.join(format!("heads-{}-00000000.bin", self.boot));
        fs::write(&path, &self.framed).unwrap();
        path
    }
}

fn bytes_of(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = record_files(dir).into_iter().chain(head_files(dir));
    files
        .map(|path| (path.clone(), fs::read(&path).unwrap()))
        .collect()
}

/// Neither with the head that the store knows nor without any does the log open, and nothing is written.
fn refuses(dir: &Path, known: HeadId, fault: Fault) {
    let before = bytes_of(dir);
    for known in [None, Some(known)] {
        let mut settings = settings(dir);
        settings.newest_known = known;
        match Log::open(settings) {
            Err(AuditError::Damaged(finding)) => assert_eq!(finding.fault, fault),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(bytes_of(dir), before);
}

#[test]
fn heads_of_a_foreign_key_that_appoint_the_nodes_own_are_not_gone_on_with() {
    for shut_down in [true, false] {
        let folder = match shut_down {
            true => small_log(3),
            false => crashed(),
        };
        let newest = newest_head(folder.path());
        let known = newest.id();
        let begin = |boot| ForeignHeads::after(known.number, known.hash, boot, &newest);
        // A boot of its own behind the true ones.
        let mut heads = begin(ForeignHeads::BOOT);
        heads.add(HeadKind::Start);
        heads.add(HeadKind::SignerChange);
        let path = heads.write(folder.path());
        refuses(folder.path(), known, Fault::Signer);
        // As its only head, which begins no boot.
        let mut heads = begin(ForeignHeads::BOOT);
        heads.add(HeadKind::SignerChange);
        assert_eq!(heads.write(folder.path()), path);
        refuses(folder.path(), known, Fault::HeadOrder);
        assert_eq!(
            shown(folder.path(), &last_file(folder.path()))[0],
            "unsigned"
        );
        fs::remove_file(path).unwrap();
        // In the file of the newest boot.
        let path = head_files(folder.path()).pop().unwrap();
        let genuine = fs::read(&path).unwrap();
        let mut heads = begin(newest.head().boot);
        heads.add(HeadKind::SignerChange);
        fs::write(&path, [&genuine[..], &heads.framed].concat()).unwrap();
        refuses(folder.path(), known, Fault::Signer);
        fs::write(&path, genuine).unwrap();
        open(folder.path()).shutdown().unwrap();
        verify(folder.path()).unwrap();
    }
}

#[test]
fn whole_log_of_a_foreign_key_does_not_stand_in_for_the_nodes() {
    let folder = crashed();
    let newest = newest_head(folder.path());
    let known = newest.id();
    let genuine = bytes_of(folder.path());
    for path in head_files(folder.path()) {
        fs::remove_file(path).unwrap();
    }
    let mut heads = ForeignHeads::after(0, [0; 32], ForeignHeads::BOOT, &newest);
    heads.add(HeadKind::Start);
    while heads.number < known.number {
        heads.add(HeadKind::Running);
    }
    heads.add(HeadKind::SignerChange);
    let path = heads.write(folder.path());
    refuses(folder.path(), known, Fault::Signer);
    fs::remove_file(path).unwrap();
    for (path, bytes) in genuine {
        fs::write(path, bytes).unwrap();
    }
    let mut settings = settings(folder.path());
    settings.newest_known = Some(known);
    Log::open(settings).unwrap().shutdown().unwrap();
    assert_eq!(verify(folder.path()).unwrap().unproven, 0);
}

#[test]
fn known_head_is_found_by_its_hash() {
    let folder = small_log(1);
    testing::crash(open(folder.path()));
    let newest = newest_head(folder.path());
    let before = HeadId {
        number: newest.id().number - 1,
        hash: newest.head().previous,
    };
    let opened = |known, accepted| {
        let folder = copy(folder.path());
        let mut settings = settings(folder.path());
        (settings.newest_known, settings.accept_known) = (Some(known), accepted);
        Log::open(settings).map(testing::crash)
    };
    opened(newest.id(), None).unwrap();
    opened(before, None).unwrap();
    let first = heads(&head_files(folder.path())[0])[0].id();
    let first = match first.number {
        1 => first,
        _ => heads(&head_files(folder.path())[1])[0].id(),
    };
    opened(first, Some(1)).unwrap();
    for known in [before, first] {
        let other = HeadId {
            hash: [1; 32],
            ..known
        };
        match opened(other, Some(known.number)) {
            Err(AuditError::Damaged(finding)) => assert_eq!(finding.fault, Fault::CutBack),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn newest_boot_that_does_not_follow_the_one_before_is_reported() {
    let folder = small_log(1);
    open(folder.path()).shutdown().unwrap();
    open(folder.path()).shutdown().unwrap();
    let newest = newest_head(folder.path());
    let of = |path: &PathBuf| heads(path)[0].head().number;
    let mut paths = head_files(folder.path());
    paths.sort_by_key(of);
    let bytes = fs::read(&paths[1]).unwrap();
    fs::remove_file(&paths[1]).unwrap();
    let log = Log::open(settings(folder.path())).unwrap();
    assert!(
        log.damage()
            .iter()
            .any(|finding| finding.fault == Fault::Previous)
    );
    log.shutdown().unwrap();
    fs::write(&paths[1], bytes).unwrap();
    assert!(verify(folder.path()).unwrap().heads > newest.id().number);
}

/// Lengthens a body by a field that no reader knows.
fn padded(facts: Facts, length: usize) -> Vec<u8> {
    let mut body = Vec::new();
    Record { facts, fields: &[] }.put(0, &mut body);
    let padding = length - body.len() - 6;
    body.extend_from_slice(&60_000_u16.to_be_bytes());
    body.extend_from_slice(&u32::try_from(padding).unwrap().to_be_bytes());
    body.resize(length, 0);
    body
}

/// A chain that begins as the file does and has one forged order, of this length.
fn another_chain(path: &Path, length: usize) -> Vec<u8> {
    let mut chain = ForgedFile::read(path);
    let genuine = std::mem::take(&mut chain.bytes);
    let first = record_frames(&genuine)[0].1.to_vec();
    fs::write(path, &first).unwrap();
    let mut chain = ForgedFile::read(path);
    fs::write(path, genuine).unwrap();
    chain.append(&padded(
        forged(RecordType::OrderBefore),
        length - first.len() - 12,
    ));
    assert_eq!(chain.bytes.len(), length);
    chain.bytes
}

fn signed_length(dir: &Path, path: &Path) -> usize {
    let newest = newest_head(dir);
    let mut files = newest.head().files.iter();
    let state = files.find(|state| state.file.file_name() == name(path));
    usize::try_from(state.unwrap().length).unwrap()
}

#[test]
fn orders_are_taken_from_what_is_signed_and_from_no_other_chain_of_its_length() {
    for shut_down in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let log = open(folder.path());
        let mut writer = log.writer().unwrap();
        let order = writer
            .begin_order(&request(7).into(), Room::Ordinary)
            .unwrap();
        append_all(&mut writer, 10..12);
        log.sign_head().unwrap();
        drop((order, writer));
        match shut_down {
            true => drop(log.shutdown().unwrap()),
            false => testing::crash(log),
        }
        let path = last_file(folder.path());
        let genuine = fs::read(&path).unwrap();
        let newest = newest_head(folder.path());
        assert_eq!(newest.head().open_orders, 1);
        let length = match shut_down {
            true => genuine.len(),
            false => signed_length(folder.path(), &path),
        };
        let mut bytes = another_chain(&path, length);
        bytes.extend_from_slice(&genuine[length..]);
        let forgery = copy(folder.path());
        fs::write(forgery.path().join(name(&path)), bytes).unwrap();
        let mut log = Log::open(settings(forgery.path())).unwrap();
        assert!(log.take_unfinished().is_empty());
        let faults = log.damage().iter().map(|finding| finding.fault);
        assert_eq!(faults.collect::<Vec<_>>(), [Fault::State]);
        log.shutdown().unwrap();
        assert_eq!(newest_head(forgery.path()).head().epoch, 3);
        assert!(verify(forgery.path()).is_err());
        fs::write(forgery.path().join(name(&path)), &genuine).unwrap();
        assert_eq!(verify(forgery.path()).unwrap().unproven, 0);
        // The genuine one is found.
        let mut log = Log::open(settings(folder.path())).unwrap();
        assert_eq!(log.take_unfinished().len(), 1);
        log.shutdown().unwrap();
    }
}

#[test]
fn second_copy_of_a_check_frame_at_the_signed_end_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path());
    let mut writer = log.writer().unwrap();
    append_all(&mut writer, 0..3);
    log.sign_head().unwrap();
    testing::crash(log);
    drop(writer);
    let path = last_file(folder.path());
    let whole = fs::read(&path).unwrap();
    assert_eq!(signed_length(folder.path(), &path), whole.len());
    let copied = &whole[whole.len() - CHECK_LEN..];
    fs::write(&path, [&whole[..], copied].concat()).unwrap();
    let log = Log::open(settings(folder.path())).unwrap();
    let faults = log.damage().iter().map(|finding| finding.fault);
    assert_eq!(faults.collect::<Vec<_>>(), [Fault::Length]);
    log.shutdown().unwrap();
    fs::write(&path, whole).unwrap();
    assert_eq!(verify(folder.path()).unwrap().unproven, 0);
}

#[test]
fn another_chain_than_was_signed_does_not_replace_what_was() {
    // Longer than what is signed; and shorter, but of more records.
    for (longer, fewer) in [(300, 0), (0, 1)] {
        let folder = crashed();
        let path = last_file(folder.path());
        let length = signed_length(folder.path(), &path);
        let genuine = fs::read(&path).unwrap();
        let mut chain = ForgedFile::read(&path);
        fs::write(&path, record_frames(&chain.bytes)[0].1).unwrap();
        chain = ForgedFile::read(&path);
        while chain.bytes.len() + fewer * 150 < length + longer {
            append(&mut chain, forged(RecordType::Request), &[]);
        }
        assert_eq!(chain.bytes.len() > length, longer > 0);
        let newest = newest_head(folder.path());
        let signed = newest.head().files.iter().map(|state| state.sequence);
        assert!(signed.max().unwrap() < chain.sequence);
        chain.write();
        let log = Log::open(settings(folder.path())).unwrap();
        assert!(!log.damage().is_empty());
        assert_eq!(log.unproven(), 0);
        log.shutdown().unwrap();
        assert!(verify(folder.path()).is_err());
        // What the head before signed is what every later head says.
        fs::write(&path, &genuine[..length]).unwrap();
        assert_eq!(verify(folder.path()).unwrap().unproven, 0);
    }
}

#[test]
fn many_files_without_a_check_frame_that_holds_are_not_adopted() {
    let folder = crashed();
    let known = newest_head(folder.path()).head().boot;
    let mut forgeries = Vec::new();
    for index in 0..17_u8 {
        // Of boots that are not known, of the newest one, and empty.
        let boot = match index % 2 {
            0 => BootId::from_bytes([0xB0 + index; 16]),
            _ => known,
        };
        let mut chain = begin(
            folder.path(),
            origin(folder.path(), boot, 100 + u32::from(index)),
        );
        if index == 16 {
            chain.bytes.clear();
        }
        chain.write();
        forgeries.push(chain);
    }
    let log = Log::open(settings(folder.path())).unwrap();
    assert_eq!((log.damage().len(), log.unproven()), (16, 0));
    let all = log.damage().iter();
    assert!(all.clone().all(|finding| finding.fault == Fault::Unstated));
    log.shutdown().unwrap();
    for forgery in &forgeries {
        let newest = head_files(folder.path()).into_iter();
        let mut stated = newest.flat_map(|path| heads(&path)).flat_map(|head| {
            let files = head.head().files.clone();
            files.into_iter().map(|state| state.file.file_name())
        });
        assert!(!stated.any(|file| file == name(&forgery.path)));
        fs::remove_file(&forgery.path).unwrap();
    }
    assert_eq!(verify(folder.path()).unwrap().unproven, 0);
}

#[test]
fn links_and_pipes_are_not_read_as_files_of_the_log() {
    let folder = crashed();
    let outside = tempfile::tempdir().unwrap();
    let known = newest_head(folder.path()).head().boot;
    let file = FileId {
        boot: known,
        writer: 9,
    };
    let target = outside.path().join("target");
    fs::write(&target, b"outside").unwrap();
    let place = folder.path().join(file.file_name());
    let heads = folder.path().join(format!("heads-{known}-00000009.bin"));
    for place in [place, heads] {
        std::os::unix::fs::symlink(&target, &place).unwrap();
        refuses_to_read(folder.path());
        fs::remove_file(&place).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&place).status();
        assert!(made.unwrap().success());
        refuses_to_read(folder.path());
        fs::remove_file(&place).unwrap();
    }
    open(folder.path()).shutdown().unwrap();
    verify(folder.path()).unwrap();
}

/// Neither a start nor a copy nor the verifier goes on.
fn refuses_to_read(dir: &Path) {
    let opened = Log::open(settings(dir));
    assert!(matches!(opened, Err(AuditError::Io { .. })), "{opened:?}");
    let to = tempfile::tempdir().unwrap();
    assert!(keywright_audit::replay::copy(dir, to.path()).is_err());
    assert!(verifier().verify(dir).is_err());
}
