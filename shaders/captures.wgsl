#define_import_path dsq::captures

// Where captures lead: cell numbers in the tables of smaller classes. A cell number is a sum with a term for each piece.

#import dsq::words::has
#import dsq::buffers::plan
#import dsq::rows::{Record, square_of, plan_mask}
#import dsq::shared::{
    SIDE_ROW_PIECES, CAPTURE_TABLE, CAPTURE_OFFSETS, CAPTURE_STRIDE, CAPTURE_FIRST, CAPTURE_MIRROR, CAPTURE_HITS,
    CAPTURE_BLOCKED, CAPTURE_BLOCKED_STRIDE,
}

/// A cell number but for the pieces still to be placed, as the board stands and mirrored, and which of the two counts.
struct Cell {
    straight: u32,
    across: u32,
    mirrored: bool,
}

/// The row pieces but one, which moves. What is taken adds nothing.
fn placed_but(capture: u32, record: Record, but: u32) -> Cell {
    let table = plan[capture + CAPTURE_TABLE];
    var cell = Cell(table, table, false);
    for (var p = 0u; p < plan[record.side + SIDE_ROW_PIECES]; p++) {
        if p != but {
            cell = with_piece(capture, cell, p, square_of(record, p));
        }
    }
    return cell;
}

fn with_piece(capture: u32, cell: Cell, piece: u32, square: u32) -> Cell {
    let at = plan[capture + CAPTURE_OFFSETS] + piece * 64u + square;
    let decides = piece == plan[capture + CAPTURE_FIRST];
    return Cell(
        cell.straight + plan[at],
        cell.across + plan[at + plan[capture + CAPTURE_STRIDE]],
        select(cell.mirrored, has(plan_mask(capture + CAPTURE_MIRROR), square), decides),
    );
}

/// The cell number with the last piece.
fn with_last(capture: u32, cell: Cell, piece: u32, square: u32) -> u32 {
    let decides = piece == plan[capture + CAPTURE_FIRST];
    let mirrored = select(cell.mirrored, has(plan_mask(capture + CAPTURE_MIRROR), square), decides);
    let stride = select(0u, plan[capture + CAPTURE_STRIDE], mirrored);
    return select(cell.straight, cell.across, mirrored) + plan[plan[capture + CAPTURE_OFFSETS] + stride + piece * 64u + square];
}

/// The other ends of a capture that has one end on this square: as the plan has them, where the attacker takes, or where it
/// comes from; without those behind a rat as the first row piece.
fn hits(capture: u32, record: Record, square: u32) -> vec2<u32> {
    let blocked = plan[capture + CAPTURE_BLOCKED]
        + 2u * (square_of(record, 0u) * plan[capture + CAPTURE_BLOCKED_STRIDE] + square);
    return plan_mask(plan[capture + CAPTURE_HITS] + 2u * square) & ~plan_mask(blocked);
}
