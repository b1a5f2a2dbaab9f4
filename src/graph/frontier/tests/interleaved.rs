//! A model of the kernel `frontier_round` (`cl/graph/frontier.cl`, `cl/graph/frontier_lists.cl`),
//! run with its items in random orders.
use crate::{
    generate::Random,
    graph::tests::{EdgeList, Family, dijkstra, families},
    interleave::{Barrier, Words, interleave},
};

const FAR: usize = usize::MAX;
const CHUNK: usize = 2;
const WHOLE: usize = usize::MAX;

/// The places of words and of distances in a slot, which describes a round.
const MODE: usize = 0;
const NEAR_LIST: usize = 1;
const FAR_LIST: usize = 2;
const NEAR_COUNT: usize = 3;
const FAR_BEFORE: usize = 4;
const FAR_COUNT: usize = 5;

const LIMIT: usize = 0;
const PASSED: usize = 1;
const LEAST: usize = 2;

/// The kinds of rounds: a round does nothing, visits near vertices, or divides far vertices.
const DONE: usize = 0;
const VISIT: usize = 1;
const DIVIDE: usize = 2;

struct Sizes {
    groups: usize,
    items: usize,
    tile: usize,
    least_share: usize,
    most_hops: usize,
    step: usize,
}

/// A round, see [`begun`].
struct Round {
    mode: usize,
    entries: usize,
    near_list: usize,
    far_list: usize,
    far_before: usize,
    limit: usize,
    passed: usize,
    least: usize,
}

/// Global memory in a launch.
struct Launch<'a> {
    leaving: &'a [Vec<(usize, usize)>],
    sizes: &'a Sizes,
    /// Whether a distance that is compared with a path over an edge is read in two halves.
    halves: bool,
    round: Round,
    number: usize,
    path_length: &'a Words,
    queued: &'a Words,
    waits: &'a Words,
    near: [&'a Words; 2],
    far: [&'a Words; 2],
    words: Words,
    bounds: Words,
}

/// Local memory of a group.
struct Group {
    number: usize,
    barrier: Barrier,
    count: Words,
    vertex: Words,
    part: Words,
    reached: Words,
    first_edge: Words,
    edges: Words,
    tile_reached: Words,
}

impl Group {
    fn new(number: usize, Sizes { items, tile, .. }: &Sizes) -> Self {
        let [vertex, part, reached, first_edge, edges, tile_reached] = [0; 6].map(|_| Words::local(vec![0; *tile]));
        let (barrier, count) = (Barrier::of(*items), Words::local([0]));
        Self { number, barrier, count, vertex, part, reached, first_edge, edges, tile_reached }
    }

    /// The edges of the tile: vertex of the tile, edge of the vertex.
    fn laid_out(&self) -> Vec<(usize, usize)> {
        let (first, edges) = (self.first_edge.values(), self.edges.values());
        (0..edges.len())
            .flat_map(|at| (0..edges[at]).map(move |edge| (at, edge)))
            .map(|(at, edge)| (at, first[at] + edge))
            .collect()
    }

    async fn come_next(&self, vertex: usize, reached: usize) -> bool {
        let place = self.count.add(0, 1).await;
        if place >= self.vertex.values().len() {
            return false;
        }
        self.vertex.store(place, vertex).await;
        self.part.store(place, WHOLE).await;
        self.reached.store(place, reached).await;
        true
    }
}

impl Launch<'_> {
    async fn come_near(&self, vertex: usize) {
        let parts = self.leaving[vertex].len().div_ceil(CHUNK);
        if parts == 0 || self.queued.xchg(vertex, self.number).await == self.number {
            return;
        }
        let place = self.words.add(NEAR_COUNT, parts).await;
        for part in 0..parts {
            self.near[self.round.near_list ^ 1].store(place + part, vertex << 32 | part).await;
        }
    }

    async fn be_far(&self, reached: usize) {
        if reached < self.bounds.load(LEAST).await {
            self.bounds.min(LEAST, reached).await;
        }
    }

    async fn add_far(&self, vertex: usize, reached: usize) {
        self.be_far(reached).await;
        let (list, before) = match self.round.mode {
            DIVIDE => (self.round.far_list ^ 1, 0),
            _ => (self.round.far_list, self.round.far_before),
        };
        let place = self.words.add(FAR_COUNT, 1).await;
        self.far[list].store(before + place, vertex).await;
    }

    async fn come_far(&self, vertex: usize, reached: usize) {
        match self.waits.xchg(vertex, 1).await {
            0 => self.add_far(vertex, reached).await,
            _ => self.be_far(reached).await,
        }
    }

    async fn note(&self) {
        let Round { mode, near_list, far_list, far_before, limit, passed, least, .. } = self.round;
        for (word, value) in [(MODE, mode), (NEAR_LIST, near_list ^ 1), (FAR_LIST, far_list), (FAR_BEFORE, far_before)]
        {
            self.words.store(word, value).await;
        }
        self.bounds.store(LIMIT, limit).await;
        self.bounds.store(PASSED, passed).await;
        if mode == VISIT {
            self.bounds.min(LEAST, least).await;
        }
    }

    async fn divide(&self, group: &Group, vertex: usize) {
        let reached = self.path_length.load(vertex).await;
        if reached > self.round.limit {
            return self.add_far(vertex, reached).await;
        }
        self.waits.xchg(vertex, 0).await;
        if reached > self.round.passed {
            assert!(group.come_next(vertex, reached).await);
        }
    }

    async fn take(&self, group: &Group, at: usize, entry: usize) {
        group.vertex.store(at, entry >> 32).await;
        group.part.store(at, entry & 0xffff_ffff).await;
        group.reached.store(at, self.path_length.load(entry >> 32).await).await;
    }

    async fn lay_out(&self, group: &Group, at: usize, count: usize) {
        let mut edges = 0;
        if at < count {
            let (vertex, part) = (group.vertex.load(at).await, group.part.load(at).await);
            let (reached, all) = (group.reached.load(at).await, self.leaving[vertex].len());
            if part == WHOLE && all > CHUNK {
                self.come_near(vertex).await;
            } else if self.path_length.load(vertex).await >= reached {
                let before = if part == WHOLE { 0 } else { part * CHUNK };
                group.first_edge.store(at, before).await;
                group.tile_reached.store(at, reached).await;
                edges = (all - before).min(CHUNK);
            }
        }
        group.edges.store(at, edges).await;
    }

    /// Follows an edge of the vertex `from`, whose place in the tile is `at`.
    async fn relax(&self, group: &Group, (at, from): (usize, usize), edge: usize, is_last: bool) {
        let (vertex, length) = self.leaving[from][edge];
        let reached = group.tile_reached.load(at).await.saturating_add(length);
        let known = match self.halves {
            true => self.path_length.load_halves(vertex).await,
            false => self.path_length.load(vertex).await,
        };
        if reached >= known || reached >= self.path_length.min(vertex, reached).await {
            return;
        }
        if reached > self.round.limit {
            self.come_far(vertex, reached).await;
        } else if is_last || !group.come_next(vertex, reached).await {
            self.come_near(vertex).await;
        }
    }
}

async fn frontier_round(launch: &Launch<'_>, group: &Group, item: usize) {
    let (Sizes { groups, items, tile, least_share, most_hops, .. }, round) = (launch.sizes, &launch.round);
    if group.number == 0 && item == 0 {
        launch.note().await;
    }
    let is_short = round.entries.wrapping_sub(1) / least_share < *groups;
    let (share, hops) = if is_short { (*least_share, *most_hops) } else { (*tile, 0) };
    let divides = round.mode == DIVIDE;
    let list = if divides { launch.far[round.far_list] } else { launch.near[round.near_list] };
    // The launch reads this list of vertices and writes to the other lists.
    let entry = list.values();
    for first in (group.number * share..round.entries).step_by(groups * share) {
        let taken = share.min(round.entries - first);
        if item == 0 {
            group.count.store(0, if divides { 0 } else { taken }).await;
        }
        group.barrier.wait().await;
        for at in (item..taken).step_by(*items) {
            match divides {
                true => launch.divide(group, entry[first + at]).await,
                false => launch.take(group, at, entry[first + at]).await,
            }
        }
        group.barrier.wait().await;
        for hop in 0.. {
            let count = group.count.load(0).await;
            if count == 0 || count > *tile || hop > hops {
                break;
            }
            for at in (item..*tile).step_by(*items) {
                launch.lay_out(group, at, count).await;
            }
            group.barrier.wait().await;
            if item == 0 {
                group.count.store(0, 0).await;
            }
            let edges = group.laid_out();
            let owners = group.vertex.values();
            group.barrier.wait().await;
            for &(at, edge) in edges.iter().skip(item).step_by(*items) {
                launch.relax(group, (at, owners[at]), edge, hop == hops).await;
            }
            group.barrier.wait().await;
        }
        for at in (item..group.count.load(0).await.min(*tile)).step_by(*items) {
            launch.come_near(group.vertex.load(at).await).await;
        }
        group.barrier.wait().await;
    }
}

/// The work of a round, computed from the slot that the round before has filled.
fn begun(words: &[usize], bounds: &[usize], step: usize) -> Round {
    let divided = usize::from(words[MODE] == DIVIDE);
    let far_before = words[FAR_COUNT] + if divided == 1 { 0 } else { words[FAR_BEFORE] };
    let (mode, entries) = match (words[NEAR_COUNT], far_before) {
        (0, 0) => (DONE, 0),
        (0, far) => (DIVIDE, far),
        (near, _) => (VISIT, near),
    };
    let (limit, passed) = match mode {
        DIVIDE => (bounds[LEAST].saturating_add(step), bounds[LIMIT]),
        _ => (bounds[LIMIT], bounds[PASSED]),
    };
    let (near_list, far_list) = (words[NEAR_LIST], words[FAR_LIST] ^ divided);
    Round { mode, entries, near_list, far_list, far_before, limit, passed, least: bounds[LEAST] }
}

/// Distances from vertex 0, by launches until nothing is left.
fn visited(leaving: &[Vec<(usize, usize)>], sizes: &Sizes, halves: bool, seed: u64) -> Vec<usize> {
    let n = leaving.len();
    let path_length = Words::new((0..n).map(|vertex| if vertex == 0 { 0 } else { FAR }));
    let (queued, waits) = (Words::new(vec![0; n]), Words::new(vec![0; n]));
    let room = n + leaving.iter().map(Vec::len).sum::<usize>() / CHUNK;
    let near = [0; 2].map(|_| Words::new(vec![0; room]));
    let far = [0; 2].map(|_| Words::new(vec![0; n]));
    let parts = leaving[0].len().div_ceil(CHUNK);
    (0..parts).for_each(|part| near[0].write(part, part));
    let (mut words, mut bounds) = (vec![0; 6], vec![sizes.step, 0, FAR]);
    words[NEAR_COUNT] = parts;
    let mut random = Random::new(seed);
    for number in 1..200 {
        let launch = Launch {
            leaving,
            sizes,
            halves,
            round: begun(&words, &bounds, sizes.step),
            number,
            path_length: &path_length,
            queued: &queued,
            waits: &waits,
            near: near.each_ref(),
            far: far.each_ref(),
            words: Words::new(vec![0; 6]),
            bounds: Words::new(vec![FAR; 3]),
        };
        if launch.round.mode == DONE {
            return path_length.values();
        }
        let groups: Vec<Group> = (0..sizes.groups).map(|number| Group::new(number, sizes)).collect();
        let items = groups.iter().flat_map(|group| (0..sizes.items).map(move |item| (group, item)));
        interleave(items.map(|(group, item)| frontier_round(&launch, group, item)), random.bits());
        (words, bounds) = (launch.words.values(), launch.bounds.values());
    }
    panic!("rounds do not end, seed {seed}")
}

fn leaving(n: usize, edges: &EdgeList) -> Vec<Vec<(usize, usize)>> {
    let mut leaving = vec![Vec::new(); n];
    edges.iter().for_each(|&(from, to, length)| leaving[from].push((to, length as usize)));
    leaving
}

const SIZES: [Sizes; 4] = [
    Sizes { groups: 3, items: 1, tile: 4, least_share: 2, most_hops: 0, step: 2 },
    Sizes { groups: 2, items: 2, tile: 2, least_share: 1, most_hops: 3, step: 1 },
    Sizes { groups: 2, items: 3, tile: 4, least_share: 4, most_hops: 2, step: FAR },
    Sizes { groups: 4, items: 2, tile: 8, least_share: 1, most_hops: 1, step: 1 },
];

#[test]
fn distances_are_right_in_every_order() {
    for Family { name, vertices, mut edges } in families() {
        // A hub whose edges are divided into several parts, and edges that lower the distances of
        // its neighbours again.
        edges.extend((1..vertices).map(|at| (0, at, (2 * at % 7 + 2) as f64)));
        let want = dijkstra(vertices, &edges, &[0]);
        let graph = leaving(vertices, &edges);
        for (sizes, seed) in SIZES.iter().flat_map(|sizes| (0..24).map(move |seed| (sizes, seed))) {
            let found = visited(&graph, sizes, false, seed);
            let equal = found.iter().zip(&want).all(|(&found, &want)| found as f64 == want);
            assert!(equal, "{name}, seed {seed}, {} groups: {found:?}, not {want:?}", sizes.groups);
        }
    }
}

/// Distances of 64 bits have to be read as whole words. If a distance is read in two halves, a path
/// is compared with a distance that the vertex never had.
#[test]
fn distances_that_are_read_in_halves_lose_edges() {
    let high = (1u64 << 32) as f64;
    let edges = vec![
        (0, 4, 2.0 * high),
        (0, 1, 1.0),
        (0, 2, 2.0),
        (0, 3, 3.0),
        (1, 4, high + 9.0),
        (2, 4, high + 5.0),
        (3, 4, high),
    ];
    let graph = leaving(5, &edges);
    let sizes = Sizes { groups: 3, items: 1, tile: 4, least_share: 1, most_hops: 0, step: FAR };
    let reached = |halves| (0..400).map(move |seed| (halves, seed));
    let found = |(halves, seed)| visited(&graph, &sizes, halves, seed)[4];
    assert!(reached(false).map(found).all(|reached| reached == (1 << 32) + 3));
    let wrong = reached(true).map(found).filter(|&reached| reached != (1 << 32) + 3).count();
    assert!(wrong > 0, "{wrong} of 400");
}
