//! Cutting a call into loops that fit the CCL buffer.

/// Loops of one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Elements of every slot in one loop.
    pub slot: u64,
    /// Further elements of the last slot.
    pub tail: u64,
    /// Elements of each user slot (per-slot operations) or of the vector that come before the first
    /// of these loops.
    pub offset: u64,
    /// Elements that one loop goes on by.
    pub shift: u64,
    /// How many loops there are.
    pub times: u64,
}

/// Loops over `count` elements of every slot, at most `capacity` of each at once.
pub fn per_slot(count: u64, capacity: u64) -> Vec<Shape> {
    let full = capacity.min(count);
    let mut shapes = Vec::new();
    if full == 0 {
        return shapes;
    }
    let times = count / full;
    let shape = |slot, offset, times| Shape {
        slot,
        tail: 0,
        offset,
        shift: slot,
        times,
    };
    shapes.push(shape(full, 0, times));
    if !count.is_multiple_of(full) {
        shapes.push(shape(count % full, full * times, 1));
    }
    shapes
}

/// Loops over a vector of `count` elements that is cut into `ranks` slots anew in each loop. A loop
/// of `L` elements has slots of `floor(L / ranks)` and puts the rest on the last one; it fits when
/// slot and rest together are within `capacity`. Each loop takes as much as fits.
pub fn whole_vector(count: u64, ranks: u32, capacity: u64) -> Vec<Shape> {
    let ranks = u64::from(ranks);
    let mut shapes: Vec<Shape> = Vec::new();
    let mut offset = 0;
    while capacity > 0 && offset < count {
        let left = count - offset;
        let (slot, tail) = match (left / ranks, left % ranks) {
            (slot, _) if slot >= capacity => (capacity, 0),
            (slot, rest) => (slot, rest.min(capacity - slot)),
        };
        let taken = slot * ranks + tail;
        // Only loops that are full, or that take nothing but a rest, come several times over.
        let times = match (slot, tail) {
            (_, 0) | (0, _) if slot == capacity || tail == capacity => left / taken,
            _ => 1,
        };
        shapes.push(Shape {
            slot,
            tail,
            offset,
            shift: taken,
            times,
        });
        offset += taken * times;
    }
    shapes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn taken(shapes: &[Shape]) -> Vec<(u64, u64, u64)> {
        shapes.iter().map(|s| (s.slot, s.tail, s.times)).collect()
    }

    /// N = 32, 100,000 f32 of every rank, 8 MiB: 65,536 and then 34,464 elements.
    #[test]
    fn all_gather_of_hccl() {
        let capacity = (8 << 20) / (32 * 4);
        let shapes = per_slot(100_000, capacity);
        assert_eq!(taken(&shapes), [(65_536, 0, 1), (34_464, 0, 1)]);
        assert_eq!(shapes[1].offset * 4, 262_144);
    }

    #[test]
    fn loops_of_equal_shape_are_one() {
        assert_eq!(
            taken(&per_slot(1_000_000_007, 1000)),
            [(1000, 0, 1_000_000), (7, 0, 1)]
        );
        assert_eq!(taken(&per_slot(0, 10)), []);
        assert_eq!(taken(&per_slot(10, 0)), []);
        assert_eq!(
            taken(&whole_vector(1_000_000_007, 4, 250)),
            [(250, 0, 1_000_000), (1, 3, 1)]
        );
        assert_eq!(
            taken(&whole_vector(11, 4, 2)),
            [(2, 0, 1), (0, 2, 1), (0, 1, 1)]
        );
        assert_eq!(taken(&whole_vector(999, 1000, 1)), [(0, 1, 999)]);
        assert_eq!(taken(&whole_vector(100, 3, 34)), [(33, 1, 1)]);
    }

    fn check(shapes: &[Shape], count: u64, ranks: u64, capacity: u64) -> Result<(), TestCaseError> {
        let mut end = 0;
        for s in shapes {
            prop_assert_eq!(s.offset, end);
            prop_assert!(s.times > 0 && s.shift > 0 && s.slot + s.tail <= capacity);
            prop_assert_eq!(s.shift, s.slot * ranks + s.tail);
            end += s.shift * s.times;
        }
        prop_assert_eq!(end, count);
        Ok(())
    }

    proptest! {
        #[test]
        fn loops_tile_the_vector(
            count in prop_oneof![0u64..200, any::<u64>()],
            ranks in 1u32..40,
            capacity in prop_oneof![1u64..20, any::<u64>()],
        ) {
            let shapes = whole_vector(count, ranks, capacity);
            check(&shapes, count, u64::from(ranks), capacity)?;
            prop_assert!(shapes.len() <= 4, "{:?}", shapes);
            check(&per_slot(count, capacity), count, 1, capacity)?;
        }

        /// Each loop takes the greatest length that fits.
        #[test]
        fn loops_take_as_much_as_fits(count in 1u64..120, ranks in 1u32..9, capacity in 1u64..9) {
            let n = u64::from(ranks);
            let mut left = count;
            for shape in whole_vector(count, ranks, capacity) {
                for _ in 0..shape.times {
                    let most = (1..=left).rfind(|l| l / n + l % n <= capacity);
                    prop_assert_eq!(Some(shape.shift), most);
                    left -= shape.shift;
                }
            }
        }
    }
}
