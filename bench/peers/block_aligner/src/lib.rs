//! The functions of bench/peers/adapters/driver.cpp for Block Aligner: global, gap-affine, in growing blocks.
//!
//! Block Aligner requires a positive match score. With a match of 2 instead of 0 each base outside gaps scores 1 more,
//! and each base in a gap loses 1 less, so that cost = bases of both - score.

use std::ffi::{c_char, c_double, c_int, c_void, CStr};
use std::slice;
use std::time::Instant;

use block_aligner::cigar::Cigar;
use block_aligner::percent_len;
use block_aligner::scan_block::{Block, PaddedBytes};
use block_aligner::scores::{Gaps, NucMatrix};

const MATCH: i8 = 2;
const MISMATCH: i8 = MATCH - 4;
const GAPS: Gaps = Gaps { open: -7, extend: -1 }; // 6 + 2 for the first base, 2 for each further one, less 1 for each
const SCORES: NucMatrix = NucMatrix::new_simple(MATCH, MISMATCH);

/// Columns of a batch, as in peer.hpp.
#[repr(C)]
pub struct Pairs {
    n: i64,
    size: i64,
    bases: *const u8,
    q_start: *const i64,
    t_start: *const i64,
    q_len: *const i32,
    t_len: *const i32,
}

struct Peer {
    score_only: bool,
    least: f32,
    most: f32,
}

/// A setting is the minimum and maximum size of blocks in per cent of the longer sequence, like "1-10%".
///
/// # Safety
/// `setting` is a C string.
#[no_mangle]
pub unsafe extern "C" fn peer_open(metric: c_int, score_only: c_int, setting: *const c_char) -> *mut c_void {
    let words = CStr::from_ptr(setting).to_str().unwrap_or("").trim_end_matches('%');
    let sizes: Vec<f32> = words.split('-').filter_map(|word| word.parse().ok()).collect();
    if metric != 1 || sizes.len() != 2 {
        return std::ptr::null_mut();
    }
    let (least, most) = (sizes[0] / 100.0, sizes[1] / 100.0);
    Box::into_raw(Box::new(Peer { score_only: score_only != 0, least, most })).cast()
}

/// # Safety
/// `opened` is from peer_open and not closed, `pairs` are as in peer.hpp, and `costs` has room for a cost of each.
#[no_mangle]
pub unsafe extern "C" fn peer_run(opened: *mut c_void, pairs: *const Pairs, costs: *mut i32) -> c_double {
    let (peer, pairs) = (&*opened.cast::<Peer>(), &*pairs);
    let costs = slice::from_raw_parts_mut(costs, pairs.n as usize);
    let begun = Instant::now();
    if peer.score_only {
        run::<false>(peer, pairs, costs);
    } else {
        run::<true>(peer, pairs, costs);
    }
    begun.elapsed().as_secs_f64()
}

/// # Safety
/// `opened` is from peer_open and not closed.
#[no_mangle]
pub unsafe extern "C" fn peer_close(opened: *mut c_void) {
    drop(Box::from_raw(opened.cast::<Peer>()));
}

unsafe fn run<const TRACE: bool>(peer: &Peer, pairs: &Pairs, costs: &mut [i32]) {
    let n = pairs.n as usize;
    let column = |at: *const i32| slice::from_raw_parts(at, n);
    let (q_len, t_len) = (column(pairs.q_len), column(pairs.t_len));
    let longest = |lengths: &[i32]| lengths.iter().copied().max().unwrap_or(0) as usize;
    let (q_most, t_most) = (longest(q_len), longest(t_len));
    let widest = percent_len(q_most.max(t_most), peer.most);
    let mut block = Block::<TRACE, false>::new(q_most, t_most, widest);
    let mut query = PaddedBytes::new::<NucMatrix>(q_most, widest);
    let mut target = PaddedBytes::new::<NucMatrix>(t_most, widest);
    let mut cigar = Cigar::new(q_most, t_most);
    for i in 0..n {
        let bases = |start: *const i64, len: i32| {
            slice::from_raw_parts(pairs.bases.add(*start.add(i) as usize), len as usize)
        };
        let longer = q_len[i].max(t_len[i]) as usize;
        let sizes = percent_len(longer, peer.least)..=percent_len(longer, peer.most).min(widest);
        query.set_bytes::<NucMatrix>(bases(pairs.q_start, q_len[i]), widest);
        target.set_bytes::<NucMatrix>(bases(pairs.t_start, t_len[i]), widest);
        block.align(&query, &target, &SCORES, GAPS, sizes, 0);
        let found = block.res();
        if TRACE {
            block.trace().cigar(found.query_idx, found.reference_idx, &mut cigar);
        }
        costs[i] = q_len[i] + t_len[i] - found.score;
    }
}
