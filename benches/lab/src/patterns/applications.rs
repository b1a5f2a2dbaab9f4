//! Patterns of applications, by rows: meshes, finite elements, networks, chemical plants, circuits.
//! Each pattern has about the requested number of rows.
use super::{SEED, of_places, scalars};
use blockmul::{Csc, Result, generate};

/// A square matrix. `columns` returns the columns of each row, in any order; columns from `n` on
/// are left out.
fn by_rows(n: usize, mut columns: impl FnMut(usize) -> Vec<usize>) -> Result<Csc<f64>> {
    let mut places = Vec::new();
    for row in 0..n {
        places.extend(columns(row).into_iter().filter(|&column| column < n).map(|column| (column, row)));
    }
    of_places([n, n], places)
}

/// The matrix of a graph: its edges in both directions, and the diagonal.
fn of_edges(n: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Result<Csc<f64>> {
    let both = edges.into_iter().flat_map(|(one, other)| [(one, other), (other, one)]);
    of_places([n, n], (0..n).map(|node| (node, node)).chain(both).collect())
}

/// A matrix for a triangulated strip of points, 309 by 46 or of similar proportions. The row of a
/// point has an entry for each point at most two edges away. The strip is like the mesh of rings
/// around an airfoil, cut open. Rows of points on the border have only the diagonal. Points are
/// numbered quadrant by quadrant.
pub fn mesh(rows: usize) -> Result<Csc<f64>> {
    let rings = ((rows as f64 * 46.0 / 309.0).sqrt().round() as usize).max(3);
    let around = (rows / rings).max(3);
    let graph = scalars(generate::planar(around, rings, SEED)?)?;
    let near = |point: usize| graph.pattern().column(point).iter().map(|&other| other as usize);
    let mut points: Vec<usize> = (0..around * rings).collect();
    points.sort_by_key(|point| interleaved([point % around, point / around]));
    let mut numbers = vec![0; points.len()];
    points.iter().enumerate().for_each(|(number, &point)| numbers[point] = number);
    by_rows(points.len(), |row| match (points[row] % around, points[row] / around) {
        (along, ring) if along % (around - 1) == 0 || ring % (rings - 1) == 0 => vec![row],
        _ => near(points[row]).flat_map(near).chain(near(points[row])).map(|point| numbers[point]).collect(),
    })
}

/// Interleaves the bits of two numbers below 2^32, so that sorting by the result sorts points by
/// quadrants.
fn interleaved(place: [usize; 2]) -> u64 {
    let bit = |of: usize, at: u32| (place[of] as u64 >> at & 1) << (2 * at + of as u32);
    (0..32).map(|at| bit(0, at) | bit(1, at)).sum()
}

/// Chains of at most nine steps in three directions: a model of a polymer that creeps through a
/// gel. A chain's neighbours differ from it by one move: two adjacent steps swap, two equal
/// adjacent steps change to another direction, or a step at an end changes. The first chains in
/// lexicographic order are taken.
pub fn chains(rows: usize) -> Result<Csc<f64>> {
    const DIRECTIONS: usize = 3;
    let places = || std::iter::successors(Some(1), |place| Some(DIRECTIONS * place)).take_while(|&place| place < rows);
    let last = places().last().unwrap_or(1);
    by_rows(rows, |chain| {
        let step = |place: usize| chain / place % DIRECTIONS;
        let with = |place: usize, from: usize, to: usize| chain - from * place + to * place;
        let ends = [1, last].into_iter().flat_map(|end| (0..DIRECTIONS).map(move |to| with(end, step(end), to)));
        let pairs = places().filter(|&place| place < last).flat_map(|place| {
            let pair = (DIRECTIONS + 1) * place;
            match (step(place), step(DIRECTIONS * place)) {
                (one, other) if one == other => (0..DIRECTIONS).map(|to| with(pair, one, to)).collect(),
                (one, other) => {
                    let swapped = (one * DIRECTIONS + other) * place;
                    vec![chain - (other * DIRECTIONS + one) * place + swapped]
                }
            }
        });
        ends.chain(pairs).collect()
    })
}

/// A network of buses with two unknowns each. A line connects each bus to one of the 30 buses whose
/// numbers precede its own. One bus in ten has a second line. One in five of the second lines leads
/// to any bus with a lower number, the others lead to one of the 400 preceding buses.
pub fn power_network(rows: usize) -> Result<Csc<f64>> {
    let (buses, mut random) = (rows.div_ceil(2), generate::Random::new(SEED));
    let mut lines = Vec::new();
    for bus in 1..buses {
        let another = match random.below(50) {
            0 => Some(buses),
            1..5 => Some(400),
            _ => None,
        };
        for most in [Some(30), another].into_iter().flatten() {
            lines.push((bus, bus - 1 - random.below(bus.min(most) as u64) as usize));
        }
    }
    let network = of_edges(buses, lines)?;
    let met = |bus: usize| network.pattern().column(bus).iter().map(|&other| other as usize);
    by_rows(rows, |row| met(row / 2).flat_map(|bus| [2 * bus, 2 * bus + 1]).collect())
}

/// Flow in a film of 12 nodes across, by bilinear elements with two velocities and a pressure at
/// each node. The velocities at the wall are given, so these are not unknowns. The equation of a
/// pressure contains no other pressure.
pub fn film(rows: usize) -> Result<Csc<f64>> {
    const ACROSS: usize = 12;
    const UNKNOWNS: usize = 3;
    const PRESSURE: usize = 2;
    let along = (rows / (ACROSS * UNKNOWNS)).max(2);
    let near = |at: usize, end: usize| at.saturating_sub(1)..(at + 2).min(end);
    by_rows(ACROSS * along * UNKNOWNS, |row| {
        let (node, unknown) = (row / UNKNOWNS, row % UNKNOWNS);
        let (across, at) = (node % ACROSS, node / ACROSS);
        if across == 0 && unknown != PRESSURE {
            return vec![row];
        }
        let nodes = near(at, along).flat_map(|at| near(across, ACROSS).map(move |across| at * ACROSS + across));
        let unknowns = nodes.flat_map(|node| (0..UNKNOWNS).map(move |other| (node, other)));
        let met = unknowns.filter(|&(_, other)| unknown != PRESSURE || other != PRESSURE);
        met.map(|(node, other)| node * UNKNOWNS + other).collect()
    })
}

/// Flow in a square cavity whose lid moves, by square elements with two velocities at each of nine
/// nodes and three pressures inside. Velocities at the walls and one pressure are given. With 20
/// elements a side the matrix has as many rows and entries as cavity21.
pub fn cavity(rows: usize) -> Result<Csc<f64>> {
    // With e elements a side there are 2·(2e + 1)² velocities and 3e² pressures: 11e² + 8e + 2
    // unknowns.
    let elements = (1..).take_while(|e| 11 * e * e + 8 * e + 2 <= rows.max(21)).last().unwrap_or(1);
    let side = 2 * elements + 1;
    // Unknowns are numbered by lines of nodes; the pressures of an element follow the velocities of
    // its middle node.
    let is_middle = |[x, y]: [usize; 2]| x % 2 == 1 && y % 2 == 1;
    let nodes: Vec<[usize; 2]> = (0..side * side).map(|node| [node / side, node % side]).collect();
    let mut first = vec![0];
    nodes.iter().for_each(|&node| first.push(first[first.len() - 1] + if is_middle(node) { 5 } else { 2 }));
    // Returns the middles of the elements that contain a node, as coordinates along one axis.
    let middles = |at: usize| [at.wrapping_sub(1), at, at + 1].into_iter().filter(|&at| at % 2 == 1 && at < side);
    let of_row: Vec<usize> = (0..nodes.len()).flat_map(|node| vec![node; first[node + 1] - first[node]]).collect();
    by_rows(of_row.len(), |row| {
        let node = of_row[row];
        let ([x, y], unknown) = (nodes[node], row - first[node]);
        let is_wall = [x, y].iter().any(|at| at % (side - 1) == 0);
        let is_given = unknown < 2 && is_wall || row == first[side + 1] + 2;
        let is_pressure = unknown >= 2;
        let elements = middles(x).flat_map(|x| middles(y).map(move |y| [x, y]));
        let elements = elements.filter(|&middle| !is_pressure || middle == [x, y]);
        let columns = elements.flat_map(|[x, y]| {
            let velocities = (x - 1..x + 2).flat_map(move |x| (y - 1..y + 2).map(move |y| x * side + y));
            let pressures = if is_pressure { 2..2 } else { 2..5 };
            let middle = first[x * side + y];
            velocities.flat_map(|node| [first[node], first[node] + 1]).chain(pressures.map(move |of| middle + of))
        });
        if is_given { vec![row] } else { columns.collect() }
    })
}

/// Columns of 20 stages that separate 15 components. The unknowns of a stage are the flows of each
/// component as liquid and as vapour, both totals and the temperature. The equations of a stage are
/// a balance and an equilibrium of each component, two sums, and a balance of heat. Balances
/// contain unknowns of the stages above and below. One stage in 20 is fed from any other stage.
/// Unknowns are numbered by stages, the equations of a column by kinds.
pub fn stages(rows: usize) -> Result<Csc<f64>> {
    const STAGES: usize = 20;
    const COMPONENTS: usize = 15;
    const LIQUID: usize = 2 * COMPONENTS;
    const VAPOUR: usize = LIQUID + 1;
    const HEAT: usize = LIQUID + 2;
    const UNKNOWNS: usize = LIQUID + 3;
    let mut random = generate::Random::new(SEED);
    let count = rows.div_ceil(UNKNOWNS);
    let feeds: Vec<Option<usize>> =
        (0..count).map(|_| (random.below(20) == 0).then(|| random.below(count as u64) as usize)).collect();
    by_rows(rows, |row| {
        let (column, of_column) = (row / (STAGES * UNKNOWNS), row % (STAGES * UNKNOWNS));
        let stages = STAGES.min(count - column * STAGES);
        let (stage, equation) = (column * STAGES + of_column % stages, of_column / stages);
        let here = move |unknown: usize| stage * UNKNOWNS + unknown;
        // The first stage has no stage above it, and the last has no stage below it.
        let above = move |unknown: usize| here(unknown).wrapping_sub(UNKNOWNS);
        let below = move |unknown: usize| here(unknown) + UNKNOWNS;
        let feed = |unknown: usize| feeds[stage].map(|from| from * UNKNOWNS + unknown);
        let all = |range: std::ops::Range<usize>, of: &dyn Fn(usize) -> usize| range.map(of).collect::<Vec<_>>();
        match equation {
            component if component < COMPONENTS => {
                let liquid = [here(component), above(component), here(LIQUID), above(LIQUID)];
                let vapour = COMPONENTS + component;
                let vapour = [here(vapour), below(vapour), here(VAPOUR), below(VAPOUR)];
                liquid.into_iter().chain(vapour).chain(feed(component)).collect()
            }
            equilibrium if equilibrium < LIQUID => [all(0..LIQUID + 1, &here), vec![here(HEAT)]].concat(),
            LIQUID => [all(0..COMPONENTS, &here), vec![here(LIQUID)]].concat(),
            VAPOUR => [all(COMPONENTS..LIQUID, &here), vec![here(VAPOUR)]].concat(),
            _ => [
                all(0..UNKNOWNS, &here),
                all(0..COMPONENTS, &above),
                all(COMPONENTS..LIQUID, &below),
                vec![above(HEAT), below(HEAT)],
                feed(HEAT).into_iter().collect(),
            ]
            .concat(),
        }
    })
}

/// Blocks of 60 to 499 rows on the diagonal, one for each unit of a plant. One row in ten has
/// entries in three of four columns of its block. Nine rows in ten have at most six entries, which
/// end at the diagonal.
pub fn units(rows: usize) -> Result<Csc<f64>> {
    let mut random = generate::Random::new(SEED);
    let mut ends = vec![0];
    while ends[ends.len() - 1] < rows {
        ends.push(ends[ends.len() - 1] + 60 + random.below(440) as usize);
    }
    by_rows(rows, |row| {
        let unit = ends.partition_point(|&end| end <= row);
        let (begin, end) = (ends[unit - 1], ends[unit].min(rows));
        match (row - begin) % 10 {
            0 => (begin..end).filter(|&column| column == row || random.below(4) > 0).collect(),
            _ => (begin.max(row.saturating_sub(5))..row + 1).collect(),
        }
    })
}

/// The parameters of a circuit.
#[derive(Clone, Copy)]
pub struct Circuit {
    /// Number of devices for each 100 nodes.
    pub devices: u64,
    /// Approximate number of entries in the longest row.
    pub longest: usize,
    /// A device connects nodes whose numbers differ by less than 2 to this power.
    pub power: u64,
}

/// A circuit: devices connect nodes at distances of all magnitudes, and a few nets connect many
/// nodes anywhere. Net k has 1/k of the entries of the longest row.
pub fn circuit(rows: usize, of: Circuit) -> Result<Csc<f64>> {
    let mut random = generate::Random::new(SEED);
    let mut edges = Vec::new();
    for node in 0..rows {
        let devices = (of.devices + random.below(100)) / 100;
        for _ in 0..devices {
            let magnitude = 1 << random.below(of.power);
            let other = node + magnitude + random.below(magnitude as u64) as usize;
            edges.extend((other < rows).then_some((node, other)));
        }
    }
    for net in 1..=rows.div_ceil(400) {
        let hub = random.below(rows as u64) as usize;
        edges.extend((0..of.longest.min(rows) / net).map(|_| (hub, random.below(rows as u64) as usize)));
    }
    of_edges(rows, edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(a: &Csc<f64>, row: usize) -> Vec<u32> {
        a.transpose().pattern().column(row).to_vec()
    }

    #[test]
    fn patterns_have_their_neighbours() -> Result<()> {
        let mesh = mesh(60)?;
        // The mesh has three rings of 20 points. The mesh has 18 inner points, whose rows include
        // border points two edges away.
        let inside = (0..60).filter(|&of| row(&mesh, of).len() > 1);
        let met: Vec<_> = inside.map(|of| (row(&mesh, of).contains(&(of as u32)), row(&mesh, of).len())).collect();
        assert!(met.len() == 18 && met.iter().all(|&(itself, count)| itself && (8..16).contains(&count)), "{met:?}");
        assert_eq!([[0, 0], [1, 0], [0, 1], [1, 1], [2, 0], [3, 5]].map(interleaved), [0, 1, 2, 3, 4, 39]);
        // The neighbours of chain 22120 (base 3): the last or the first step changes, the equal
        // steps 2,2 become 0,0 or 1,1, or neighbouring steps swap.
        let chains = chains(243)?;
        let chain = |digits: &str| u32::from_str_radix(digits, 3).unwrap();
        let mut want: Vec<u32> =
            ["22120", "22121", "22122", "02120", "12120", "00120", "11120", "21220", "22210", "22102"]
                .map(chain)
                .into();
        want.sort_unstable();
        assert_eq!(row(&chains, chain("22120") as usize), want);
        let network = power_network(101)?;
        assert!(network.ncols() == 101 && row(&network, 40) == row(&network, 41));
        let film = film(360)?;
        assert_eq!((film.ncols(), row(&film, 36), row(&film, 38).len(), row(&film, 39).len()), (360, vec![36], 12, 27));
        Ok(())
    }

    #[test]
    fn a_cavity_of_one_element_has_its_walls_and_three_pressures() -> Result<()> {
        let one = cavity(21)?;
        assert_eq!(one.ncols(), 21);
        // Eight of the nine nodes are walls. The rows of the middle node's two velocities are full.
        // One of the pressures of the element is given.
        let of_middle: Vec<_> = (8..13).map(|at| row(&one, at).len()).collect();
        assert_eq!((of_middle, one.nnz()), (vec![21, 21, 1, 18, 18], 16 + 2 * 21 + 1 + 2 * 18));
        Ok(())
    }

    #[test]
    fn plants_and_circuits_have_long_rows_and_short_ones() -> Result<()> {
        // The test counts the entries in the rows of the fourth of ten stages.
        let stages = stages(330)?;
        let length = |equation: usize| row(&stages, 10 * equation + 3).len();
        assert_eq!([15, 30, 31].map(length), [32, 16, 16]);
        // A stage that is fed has one more entry in each of these rows.
        assert!(matches!([0, 32].map(length), [8, 65] | [9, 66]));
        let units = units(700)?;
        let lengths: Vec<_> = (0..700).map(|of| row(&units, of).len()).collect();
        assert!(lengths[1..10] == [2, 3, 4, 5, 6, 6, 6, 6, 6] && lengths[0] > 40 && lengths[0] < 499, "{lengths:?}");
        let circuit = circuit(4000, Circuit { devices: 250, longest: 200, power: 10 })?;
        let longest = (0..4000).map(|of| circuit.pattern().column(of).len()).max().unwrap();
        assert!(circuit.pattern() == circuit.transpose().pattern() && (190..=230).contains(&longest), "{longest}");
        Ok(())
    }
}
