//! An event as words for the ring, and back.
//!
//! | word | what |
//! |---|---|
//! | 0 | the header: words of the record, which of the fields are there, the function |
//! | 1 to 3 | return code, when it began, how long it took |
//! | 4 | the thread |
//! | then | session, slot, key, made, user, bytes in, bytes out: those that are there, in this order |
//! | then | of a hint its length and its bytes, eight to a word |
//! | then | of details: counts, mechanism, which parameters and their values, IV, three words for each attribute, and the bytes of their values |
//!
//! Both ends are in one process, so words are as they lie in memory. A record that does not read back, which none
//! that this module wrote does, is no event.

use crate::boundary::Place;
use crate::event::{Attribute, Details, Event, Iv, Parameter, Template};
use crate::ring::{Full, MOST_WORDS, Ring, Slots, header};

/// What is there of an event: a bit for each.
const SESSION: u64 = 1;
const SLOT: u64 = 1 << 1;
const KEY: u64 = 1 << 2;
const MADE: u64 = 1 << 3;
const USER: u64 = 1 << 4;
const IN_LEN: u64 = 1 << 5;
const OUT_LEN: u64 = 1 << 6;
const SIZE_QUERY: u64 = 1 << 7;
const HINT: u64 = 1 << 8;
const DETAILS: u64 = 1 << 9;
/// Where these bits lie in the header.
const FLAGS_SHIFT: u32 = 16;
/// In the counts of details: there is a mechanism.
const MECHANISM: u64 = 1;

/// Fields behind the first four words: those that are there, in the order of their bits.
const FIELDS: u64 = SESSION | SLOT | KEY | MADE | USER | IN_LEN | OUT_LEN;
/// Return code, when it began, how long it took, the thread; and the header.
const ALWAYS: u64 = 5;

/// Puts an event into the ring.
#[inline(always)]
pub(crate) fn send(event: &Event, ring: &Ring) -> Result<(), Full> {
    let flags = flags(event);
    let mut count = ALWAYS + u64::from((flags & FIELDS).count_ones());
    if let Some(hint) = &event.hint {
        count += 1 + eighths(hint.len());
    }
    if let Some(details) = &event.details {
        count += count_of(details);
    }
    if count > MOST_WORDS as u64 {
        return Err(Full);
    }
    let front = header(count, (flags << FLAGS_SHIFT) | event.place as u64);
    let mut slots = ring.begin(count)?;
    each_word(event, &mut slots);
    slots.publish(front);
    Ok(())
}

#[inline(always)]
fn flags(event: &Event) -> u64 {
    let there = |field: bool, bit: u64| if field { bit } else { 0 };
    there(event.session.is_some(), SESSION)
        | there(event.slot.is_some(), SLOT)
        | there(event.key.is_some(), KEY)
        | there(event.made.is_some(), MADE)
        | there(event.user.is_some(), USER)
        | there(event.in_len.is_some(), IN_LEN)
        | there(event.out_len.is_some(), OUT_LEN)
        | there(event.size_query, SIZE_QUERY)
        | there(event.hint.is_some(), HINT)
        | there(event.details.is_some(), DETAILS)
}

/// Words that hold so many bytes.
#[inline(always)]
const fn eighths(bytes: usize) -> u64 {
    bytes.div_ceil(8) as u64
}

/// All words but the header.
#[inline(always)]
fn each_word(event: &Event, slots: &mut Slots<'_>) {
    slots.put(event.rv);
    slots.put(event.began);
    slots.put(event.took);
    slots.put(event.thread);
    let mut there = |field: Option<u64>| {
        if let Some(value) = field {
            slots.put(value);
        }
    };
    there(event.session);
    there(event.slot);
    there(event.key);
    there(event.made);
    there(event.user);
    there(event.in_len);
    there(event.out_len);
    if let Some(hint) = &event.hint {
        slots.put(hint.len() as u64);
        packed(hint.as_bytes(), slots);
    }
    if let Some(details) = &event.details {
        words_of(details, slots);
    }
}

/// Words of the details.
#[inline(always)]
fn count_of(details: &Details) -> u64 {
    let (_, values) = details.parameters();
    let template = details.template.as_ref().map_or(0, |template| {
        3 * template.attributes.len() as u64 + eighths(template.bytes.len())
    });
    2 + u64::from(details.mechanism.is_some())
        + values.len() as u64
        + details.iv.as_ref().map_or(0, |iv| eighths(iv.len()))
        + template
}

#[inline(always)]
fn words_of(details: &Details, slots: &mut Slots<'_>) {
    let (which, values) = details.parameters();
    let mechanism = if details.mechanism.is_some() {
        MECHANISM
    } else {
        0
    };
    let template = details.template.as_ref().map_or(0, |template| {
        (template.attributes.len() as u64) << 24 | (template.bytes.len() as u64) << 40
    });
    let iv = details.iv.as_ref().map_or(0, |iv| iv.len() as u64);
    slots.put(mechanism | (values.len() as u64) << 8 | iv << 16 | template);
    if let Some(mechanism) = details.mechanism {
        slots.put(mechanism);
    }
    slots.put(which);
    values.iter().for_each(|value| slots.put(*value));
    if let Some(iv) = &details.iv {
        iv.words().iter().for_each(|eight| slots.put(*eight));
    }
    if let Some(template) = &details.template {
        words_of_template(template, slots);
    }
}

fn words_of_template(template: &Template, slots: &mut Slots<'_>) {
    for attribute in &template.attributes {
        slots.put(attribute.kind);
        slots.put(attribute.len.unwrap_or(u64::MAX));
        slots
            .put((attribute.start as u64) << 32 | attribute.kept.map_or(0, |kept| kept as u64 + 1));
    }
    packed(&template.bytes, slots);
}

fn packed(bytes: &[u8], slots: &mut Slots<'_>) {
    for piece in bytes.chunks(8) {
        let mut eight = [0; 8];
        for (to, from) in eight.iter_mut().zip(piece) {
            *to = *from;
        }
        slots.put(u64::from_le_bytes(eight));
    }
}

/// The event of a record that came out of the ring.
pub(crate) fn read(words: &[u64]) -> Option<Event> {
    let (first, rest) = words.split_first()?;
    let mut rest = rest.iter().copied();
    let flags = first >> FLAGS_SHIFT;
    let place = Place::at(usize::try_from(first & 0xffff).ok()?)?;
    let mut event = Event::new(place, rest.next()?);
    event.began = rest.next()?;
    event.took = rest.next()?;
    event.thread = rest.next()?;
    for (bit, field) in [
        (SESSION, &mut event.session),
        (SLOT, &mut event.slot),
        (KEY, &mut event.key),
        (MADE, &mut event.made),
        (USER, &mut event.user),
        (IN_LEN, &mut event.in_len),
        (OUT_LEN, &mut event.out_len),
    ] {
        if flags & bit != 0 {
            *field = Some(rest.next()?);
        }
    }
    event.size_query = flags & SIZE_QUERY != 0;
    if flags & HINT != 0 {
        let length = usize::try_from(rest.next()?).ok()?;
        let text = String::from_utf8(unpacked(length, &mut rest)?).ok()?;
        event.hint = Some(text.into());
    }
    if flags & DETAILS != 0 {
        event.details = Some(details(&mut rest)?);
    }
    Some(event)
}

fn details(rest: &mut impl Iterator<Item = u64>) -> Option<Details> {
    let counts = rest.next()?;
    let count = |shift: u32, bits: u32| usize::try_from(counts >> shift & ((1 << bits) - 1)).ok();
    let mut details = Details::default();
    if counts & MECHANISM != 0 {
        details.mechanism = Some(rest.next()?);
    }
    let (parameters, which) = (count(8, 8)?, rest.next()?);
    for number in (0..parameters).rev() {
        let parameter = Parameter::ALL.get(usize::try_from(which >> (8 * number) & 0xff).ok()?)?;
        details.put(*parameter, rest.next()?);
    }
    let iv = count(16, 8)?;
    if iv > 0 {
        let mut words = [0; Iv::LONGEST / 8];
        for word in words.get_mut(..iv.div_ceil(8))? {
            *word = rest.next()?;
        }
        details.iv = Iv::of_words(words, iv);
    }
    let (attributes, bytes) = (count(24, 16)?, count(40, 24)?);
    if attributes > 0 || bytes > 0 {
        details.template = Some(template((attributes, bytes), rest)?);
    }
    Some(details)
}

fn template(
    (attributes, bytes): (usize, usize),
    rest: &mut impl Iterator<Item = u64>,
) -> Option<Box<Template>> {
    let mut template = Box::<Template>::default();
    for _ in 0..attributes {
        let (kind, len, placed) = (rest.next()?, rest.next()?, rest.next()?);
        template.attributes.push(Attribute {
            kind,
            len: Some(len).filter(|len| *len != u64::MAX),
            start: usize::try_from(placed >> 32).ok()?,
            kept: usize::try_from(placed & 0xffff_ffff).ok()?.checked_sub(1),
        });
    }
    template.bytes = unpacked(bytes, rest)?;
    Some(template)
}

fn unpacked(length: usize, rest: &mut impl Iterator<Item = u64>) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(length.min(8 * MOST_WORDS));
    while bytes.len() < length {
        bytes.extend_from_slice(&rest.next()?.to_le_bytes());
    }
    bytes.truncate(length);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(event: &Event) -> Event {
        let ring = Ring::new(1);
        assert_eq!(send(event, &ring), Ok(()));
        let mut words = Vec::new();
        assert!(ring.pop(&mut words));
        for short in 0..words.len() {
            // Whatever is cut off, nothing is read that is not there.
            drop(read(&words[..short]));
        }
        read(&words).unwrap()
    }

    fn rich() -> Event {
        let mut event = Event::new(Place::C_UnwrapKey, u64::MAX - 1);
        (event.began, event.took, event.thread) = (1, u64::MAX, 99);
        (event.session, event.slot, event.key) = (Some(0), Some(u64::MAX), Some(5));
        (event.made, event.user) = (Some(6), Some(7));
        (event.in_len, event.out_len, event.size_query) = (Some(8), Some(9), true);
        event.hint = Some("a hint of no round length".into());
        let details = event.details();
        details.mechanism = Some(0x1087);
        for (number, parameter) in Parameter::ALL.into_iter().enumerate().take(5) {
            details.put(parameter, u64::MAX - number as u64);
        }
        details.iv = Iv::new(&[3; 13]);
        let template = details.template();
        template.bytes = (0..77).collect();
        template.attributes.extend([
            Attribute {
                kind: 3,
                len: Some(13),
                start: 0,
                kept: Some(13),
            },
            Attribute {
                kind: u64::MAX,
                len: None,
                start: 13,
                kept: None,
            },
            Attribute {
                kind: 0x102,
                len: Some(64),
                start: 13,
                kept: Some(64),
            },
            Attribute {
                kind: 1,
                len: Some(0),
                start: 77,
                kept: Some(0),
            },
        ]);
        event
    }

    #[test]
    fn an_event_comes_back_as_it_went() {
        for event in [Event::new(Place::C_Finalize, 0), rich()] {
            assert_eq!(through(&event), event);
        }
        // Each field by itself.
        for field in 0..7 {
            let mut event = Event::new(Place::C_Sign, 5);
            let fields = [
                &mut event.session,
                &mut event.slot,
                &mut event.key,
                &mut event.made,
                &mut event.user,
                &mut event.in_len,
                &mut event.out_len,
            ];
            *fields.into_iter().nth(field).unwrap() = Some(42);
            assert_eq!(through(&event), event);
        }
    }

    #[test]
    fn every_function_and_every_parameter_comes_back() {
        for index in 0..=u8::MAX {
            let Some(place) = Place::at(usize::from(index)) else {
                assert!(index >= 104);
                continue;
            };
            assert_eq!(through(&Event::new(place, 0)).place, place);
        }
        for parameter in Parameter::ALL {
            let mut event = Event::new(Place::C_SignInit, 0);
            event.details().put(parameter, 1);
            let back = through(&event);
            let details = back.details.unwrap();
            assert_eq!(details.named().collect::<Vec<_>>(), [(parameter, 1)]);
        }
    }

    #[test]
    fn ivs_of_every_length_come_back_with_their_bytes() {
        let bytes: Vec<u8> = (1..=64).collect();
        for length in 1..=Iv::LONGEST {
            let mut event = Event::new(Place::C_EncryptInit, 0);
            event.details().iv = Iv::new(&bytes[..length]);
            let back = through(&event);
            let (details, mut room) = (back.details.unwrap(), [0; Iv::LONGEST]);
            let iv = details.iv.unwrap();
            assert_eq!(iv.bytes(&mut room), &bytes[..length]);
        }
        assert!(Iv::new(&[0; Iv::LONGEST + 1]).is_none());
    }

    #[test]
    fn an_event_that_is_too_long_is_refused() {
        let ring = Ring::new(1);
        let mut event = rich();
        event.details().template().bytes = vec![1; 8 * MOST_WORDS];
        assert_eq!(send(&event, &ring), Err(Full));
        assert!(!ring.pop(&mut Vec::new()));
    }
}
