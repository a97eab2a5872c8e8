//! The order of a mix: a deck with as many cards of each part as its weight asks for, shuffled anew each
//! time it has been dealt. So shares are exact from deck to deck, and no part comes in a rhythm.

use keywright_measure::stats::random::Generator;

/// A shuffled deck of parts.
#[derive(Debug)]
pub(super) struct Deck {
    cards: Vec<u32>,
    next: usize,
    random: Generator,
}

/// Shares are kept to this fineness.
const FINENESS: f64 = 100.0;

impl Deck {
    /// Parts by their weights, of any sum. A part with a weight above zero has a card at least.
    pub(super) fn new(weights: &[f64]) -> Self {
        let sum: f64 = weights.iter().sum();
        let counts: Vec<u32> = weights.iter().map(|weight| count(*weight, sum)).collect();
        let divisor = counts.iter().copied().fold(0, common_divisor).max(1);
        let cards = (0..)
            .zip(&counts)
            .flat_map(|(part, count)| std::iter::repeat_n(part, (count / divisor) as usize))
            .collect();
        Self {
            cards,
            next: usize::MAX,
            random: Generator::new(0),
        }
    }

    /// From the beginning.
    pub(super) fn restart(&mut self, seed: u64) {
        self.random = Generator::new(seed);
        self.next = usize::MAX;
        // A shuffle starts from what the one before has left.
        self.cards.sort_unstable();
    }

    /// The next part.
    pub(super) fn draw(&mut self) -> u32 {
        if self.cards.len() <= 1 {
            return self.cards.first().copied().unwrap_or(0);
        }
        if self.next >= self.cards.len() {
            for place in (1..self.cards.len()).rev() {
                self.cards.swap(place, self.random.index(place + 1));
            }
            self.next = 0;
        }
        let part = self.cards[self.next];
        self.next += 1;
        part
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and 100"
)]
fn count(weight: f64, sum: f64) -> u32 {
    if weight <= 0.0 || sum <= 0.0 {
        return 0;
    }
    (weight / sum * FINENESS).round().clamp(1.0, FINENESS) as u32
}

const fn common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dealt(deck: &mut Deck, count: usize) -> Vec<u32> {
        (0..count).map(|_| deck.draw()).collect()
    }

    #[test]
    fn shares_are_exact_over_whole_decks_and_the_order_follows_from_the_seed() {
        let mut deck = Deck::new(&[8.0, 1.5, 0.5]);
        assert_eq!(deck.cards.len(), 20);
        deck.restart(7);
        let first = dealt(&mut deck, 2000);
        let of = |part: u32| first.iter().filter(|card| **card == part).count();
        assert_eq!((of(0), of(1), of(2)), (1600, 300, 100));
        deck.restart(7);
        assert_eq!(dealt(&mut deck, 2000), first);
        deck.restart(8);
        assert_ne!(dealt(&mut deck, 2000), first);
    }

    #[test]
    fn no_rhythm_stays_in_a_mix_of_halves() {
        let mut deck = Deck::new(&[1.0, 1.0]);
        deck.restart(1);
        let cards = dealt(&mut deck, 1000);
        let repeats = cards.windows(2).filter(|pair| pair[0] == pair[1]).count();
        // A pair of halves repeats at the seam of two decks only, in half of them.
        assert!((150..350).contains(&repeats), "{repeats}");
    }

    #[test]
    fn a_rare_part_still_comes_and_a_part_without_weight_does_not() {
        let mut deck = Deck::new(&[1000.0, 0.001, 0.0]);
        deck.restart(3);
        let cards = dealt(&mut deck, 1000);
        assert!(cards.contains(&1) && !cards.contains(&2));
        assert_eq!(dealt(&mut Deck::new(&[]), 2), [0, 0]);
        assert_eq!(dealt(&mut Deck::new(&[0.0, 3.0]), 2), [1, 1]);
    }
}
