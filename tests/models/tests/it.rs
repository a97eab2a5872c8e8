//! Each model through every order of its threads.
#![forbid(unsafe_code)]

use keywright_models::{published, slot};

#[test]
fn no_head_states_more_than_is_durable_in_any_order_of_writer_and_head_thread() {
    slot::no_head_states_more_than_is_durable();
}

#[test]
fn a_lost_write_is_lost_for_everybody_in_any_order_of_two_syncs() {
    slot::a_lost_write_is_lost_for_everybody_and_for_ever();
}

#[test]
fn nothing_is_written_behind_an_end_in_any_order_of_writer_and_head_thread() {
    slot::nothing_is_written_behind_an_end_and_no_end_is_stated_before_it_is_durable();
}

#[test]
fn who_hears_of_a_new_snapshot_is_decided_by_it_in_any_order_of_publisher_and_reader() {
    published::who_hears_of_a_change_sees_it_and_nobody_goes_back();
}

#[test]
fn everybody_ends_with_the_snapshot_in_force_in_any_order_of_two_publishers() {
    published::a_reader_among_two_who_replace_ends_with_what_is_in_force();
}
