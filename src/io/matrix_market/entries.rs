//! Reads all entries of a file. Chunks of lines are parsed on all threads, joined in the order of
//! the file, and counted.
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::header::Header;
use super::part::{Part, Trouble};
use crate::Result;
use crate::io::source::Source;

/// Reads the entries after the header, up to the number that the header announces.
pub(super) fn read(source: &mut Source<'_>, header: &Header) -> Result<Vec<Part>> {
    let read = AtomicU64::new(0);
    let (mut parts, end) = source.map_blocks(|block| {
        let part = Part::parse(&block, header);
        // If there are more entries than announced, the surplus is in the chunks read so far.
        // Threads may count the chunks that have been read in any order.
        let surplus = read.fetch_add(part.len, Ordering::Relaxed) + part.len > header.stored;
        match surplus || part.trouble.is_some() {
            true => ControlFlow::Break(part),
            false => ControlFlow::Continue(part),
        }
    });
    let mut found = 0;
    for part in &mut parts {
        if found + part.len > header.stored {
            let reason = format!("more {} than the {} of line {}", header.items(), header.stored, header.size_line);
            return Err(source.refuse(part.line_of(header.stored - found), reason));
        }
        match part.trouble.take() {
            Some(Trouble::Line(line, reason)) => return Err(source.refuse(line, reason)),
            Some(Trouble::Memory(error)) => return Err(error),
            None => found += part.len,
        }
    }
    end?;
    if found < header.stored {
        let (items, promised) = (header.items(), header.stored);
        let reason = format!("the file ends after {found} of the {promised} {items} of line {}", header.size_line);
        return Err(source.refuse(source.lines(), reason));
    }
    if header.is_array {
        place(&mut parts, header)?;
    }
    Ok(parts)
}

/// Computes the rows and columns of the values of an array.
fn place(parts: &mut [Part], header: &Header) -> Result<()> {
    let mut found = 0;
    let mut first = |part: &Part| {
        found += part.len;
        found - part.len
    };
    let firsts: Vec<_> = parts.iter().map(&mut first).collect();
    parts.par_iter_mut().zip(firsts).try_for_each(|(part, first)| part.place(first, header))
}
