//! Teams of work-items that exchange words, see `cl/team.cl`, and instructions of warps, see
//! `cl/ptx.cl`. A warp is NVIDIA's group of 32 work-items that run in step.
mod numbers;

pub(crate) use numbers::TeamNumbers;

use super::{DeviceInfo, DeviceKind, Options};

/// How a device runs teams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Teams {
    warps: bool,
    /// Whether loops with constant bounds are unrolled.
    unrolls: bool,
    /// Whether loads may carry hints that say how long the loaded values stay in the nearest cache.
    hints: bool,
    /// Number of work-items in a team.
    size: usize,
    /// Maximum number of work-items in a team made by [`Teams::large`].
    largest: usize,
    /// Maximum number of teams in a work-group.
    most: usize,
}

impl Teams {
    /// Number of work-items in a team, except in large teams ([`Teams::large`]).
    pub const SIZE: usize = 32;
    /// Maximum number of work-items in a large team, if the device allows work-groups of this size.
    const LARGEST: usize = 256;
    /// Teams that are whole work-groups, which any device can run.
    #[cfg(test)]
    pub const PORTABLE: Self =
        Self { warps: false, unrolls: false, hints: false, size: Self::SIZE, largest: Self::LARGEST, most: 1 };

    /// The teams of a device, or `None` if its work-groups are too small.
    pub fn of(info: &DeviceInfo) -> Option<Self> {
        let warps = info.has_warp_instructions() && info.numbers::<TeamNumbers>().warp_instructions == 1;
        let most = if warps { info.max_group_size / Self::SIZE } else { 1 };
        let hints = warps && info.cache_hints;
        let largest = info.max_group_size.min(Self::LARGEST);
        let teams = Self { warps, unrolls: unrolls(info), hints, size: Self::SIZE, largest, most };
        (info.max_group_size >= Self::SIZE).then_some(teams)
    }

    /// Maximum number of work-items in a team.
    pub fn largest(self) -> usize {
        self.largest
    }

    /// Teams of `size` work-items, a power of two up to [`Teams::largest`]. Teams larger than
    /// [`Teams::SIZE`] are whole work-groups.
    pub fn large(self, size: usize) -> Self {
        debug_assert!(size.is_power_of_two() && size >= Self::SIZE);
        Self { size, most: if size > Self::SIZE { 1 } else { self.most }, ..self }
    }

    /// Whether a team exchanges words by warp instructions. A team that does not is a whole
    /// work-group.
    pub fn are_warps(self) -> bool {
        self.warps
    }

    /// Number of teams in a work-group, at most `wanted`.
    pub fn in_group(self, wanted: usize) -> usize {
        wanted.clamp(1, self.most)
    }

    /// Number of work-items in a work-group that has at most `wanted` teams.
    pub fn group_size(self, wanted: usize) -> usize {
        self.size * self.in_group(wanted)
    }

    /// Options of kernels whose work-groups have at most `wanted` teams.
    pub fn options(self, wanted: usize) -> Options {
        let options = self.define(Options::group_size(self.group_size(wanted)));
        if self.size > Self::SIZE { options.define("TEAM_SIZE", self.size) } else { options }
    }

    /// Completes `options` for kernels that have no teams, but use warp instructions if the device
    /// has them.
    pub fn options_of(info: &DeviceInfo, options: Options) -> Options {
        let (size, largest) = (Self::SIZE, Self::SIZE);
        let none = Self { warps: false, unrolls: unrolls(info), hints: false, size, largest, most: 0 };
        Self::of(info).unwrap_or(none).define(options)
    }

    fn define(self, options: Options) -> Options {
        options
            .define("WARPS", u8::from(self.warps))
            .define("UNROLLS", u8::from(self.unrolls))
            .define("CACHE_HINTS", u8::from(self.hints))
    }
}

/// Whether a device keeps arrays in registers if the loops over them are unrolled. GPUs keep arrays
/// of unrolled loops in registers. PoCL does not, because it splits kernels at barriers; its
/// platform name decides, because PoCL may present the CPU as another kind of device.
fn unrolls(info: &DeviceInfo) -> bool {
    info.kind == DeviceKind::Gpu && info.platform != "Portable Computing Language"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Result,
        device::{File, Grid, In, InOut, Kernel, Source, Work, file, kernel, test_device},
    };

    /// Number of words that the test kernel writes for each item of a team of `size`.
    const fn words_of(size: usize) -> usize {
        15 + size.ilog2() as usize
    }

    const EXCHANGES: Source = Source {
        files: &[
            file("cl/ptx.cl"),
            file("cl/team.cl"),
            &File {
                path: "exchanges.cl",
                text: "
KERNEL exchanges(global const uint* value, global const uint* chosen, global uint* passed, global uint* words)
{
    TEAM_MEMORY_OF(2);
    const uint item = get_global_id(0), first = item - LANE;
    const uint v = value[item], c = chosen[item];
    global uint* to = words + item * WORDS;
    uint all = 0;
    *to++ = team_from(v, c, TEAM);
    *to++ = team_across(v, c, TEAM);
    *to++ = team_before(v, c, TEAM);
#if TEAM_SIZE == WARP_SIZE
    *to++ = team_votes(c % 3, TEAM);
    *to++ = team_votes(v == c, TEAM);
#else
    to += 2;
#endif
    *to++ = team_sum(v, TEAM);
    *to++ = team_max(v, TEAM);
    *to++ = team_min(v, TEAM);
    *to++ = team_sum_before(v, &all, TEAM);
    *to++ = all;
    const uint both[2] = {v, c};
    uint other[2];
    team_across_all(other, both, 2, 5, TEAM);
    *to++ = other[0] ^ other[1];
    team_across_all(other, both, 2, TEAM_SIZE - 1, TEAM);
    *to++ = other[0] ^ other[1];
    team_across_all(other, both, 2, TEAM_SIZE / 2, TEAM);
    *to++ = other[0] ^ other[1];
    for (uint items = 1; items <= TEAM_SIZE; items *= 2)
        *to++ = team_part_sum_before(v, items, TEAM);
    passed[first + (LANE + 1) % TEAM_SIZE] = v;
    TEAM_BARRIER;
    *to++ = passed[item];
}
",
            },
        ],
    };
    kernel! { struct Exchanges = "exchanges" in (EXCHANGES) {
        value: In<u32>, chosen: In<u32>, passed: InOut<u32>, words: InOut<u32>
    } }

    /// The words that the test kernel should write for item `lane` of a team.
    fn expected(value: &[u32], chosen: &[u32], lane: usize) -> Vec<u32> {
        let size = value.len();
        let sum = |items: &[u32]| items.iter().fold(0, |sum: u32, v| sum.wrapping_add(*v));
        let votes = |vote: &dyn Fn(usize) -> bool| (0..32).map(|i| u32::from(size == 32 && vote(i)) << i).sum::<u32>();
        let choice = chosen[lane] as usize;
        let across = |bits: usize| value[lane ^ bits] ^ chosen[lane ^ bits];
        let mut words = vec![
            value[choice],
            value[lane ^ choice],
            value[lane.checked_sub(choice).unwrap_or(lane)],
            votes(&|i| !chosen[i].is_multiple_of(3)),
            votes(&|i| value[i] == chosen[i]),
            sum(value),
            value.iter().copied().max().unwrap(),
            value.iter().copied().min().unwrap(),
            sum(&value[..lane]),
            sum(value),
            across(5),
            across(size - 1),
            across(size / 2),
        ];
        words.extend((0..=size.ilog2()).map(|bits| sum(&value[lane >> bits << bits..lane])));
        words.push(value[(lane + size - 1) % size]);
        words
    }

    /// Tests teams that use local memory, several teams in a work-group if the device's teams are
    /// warps, and large teams of both kinds.
    #[test]
    fn small_teams_exchange_what_plain_loops_do() -> Result<()> {
        const ITEMS: usize = 768;
        let device = test_device();
        let work = Work::new(&device, None);
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32
        };
        // Values of all magnitudes up to u32::MAX. The last values are all equal.
        let value: Vec<u32> =
            (0..ITEMS).map(|i| if i >= ITEMS - 32 { 5 } else { (random() << 1 | 1) >> (random() % 32) }).collect();
        let of_device = Teams::of(device.info()).filter(|teams| teams.are_warps());
        for size in [32, 64, 128, 256].into_iter().filter(|&size| size <= device.info().max_group_size) {
            let chosen: Vec<u32> = (0..ITEMS).map(|_| random() % size as u32).collect();
            let words_of = words_of(size);
            for (teams, wanted) in [(Some(Teams::PORTABLE), 4), (of_device, 1), (of_device, 4)] {
                let Some(teams) = teams.map(|teams| teams.large(size)) else { continue };
                let options = teams.options(wanted).define("WORDS", words_of);
                let kernel: Kernel<Exchanges<'_>> = Kernel::new(&device, &options)?;
                let (on_device, choices) = (work.upload(&value)?, work.upload(&chosen)?);
                let (mut passed, mut words) = (work.buffer(ITEMS)?, work.upload(&vec![0; ITEMS * words_of])?);
                let grid = Grid::items(ITEMS, teams.group_size(wanted));
                let args = Exchanges { value: &on_device, chosen: &choices, passed: &mut passed, words: &mut words };
                kernel.launch(&work, grid, args)?;
                for (item, found) in words.download(&work)?.chunks(words_of).enumerate() {
                    let team = item / size * size..(item / size + 1) * size;
                    let expected = expected(&value[team.clone()], &chosen[team], item % size);
                    assert_eq!(found, expected, "item {item}, {teams:?}, groups of {wanted}");
                }
            }
        }
        Ok(())
    }

    #[test]
    fn groups_have_several_teams_on_nvidia_gpus_alone() {
        let nvidia = DeviceInfo {
            platform: "NVIDIA CUDA".into(),
            kind: DeviceKind::Gpu,
            max_group_size: 1024,
            cache_hints: true,
            ..test_device().info().clone()
        };
        let pocl = DeviceInfo { platform: "Portable Computing Language".into(), ..nvidia.clone() };
        let cpu = DeviceInfo { kind: DeviceKind::Cpu, ..nvidia.clone() };
        let sizes = |info: &DeviceInfo| Teams::of(info).map(|teams| [0, 1, 4, 64].map(|n| teams.group_size(n)));
        assert_eq!(sizes(&nvidia), Some([32, 32, 128, 1024]));
        assert_eq!((sizes(&pocl), sizes(&cpu)), (Some([32; 4]), Some([32; 4])));
        let options = |info: &DeviceInfo| Teams::of(info).unwrap().options(4).to_string();
        assert_eq!(options(&nvidia), " -DGROUP_SIZE=128 -DWARPS=1 -DUNROLLS=1 -DCACHE_HINTS=1");
        assert_eq!(options(&pocl), " -DGROUP_SIZE=32 -DWARPS=0 -DUNROLLS=0 -DCACHE_HINTS=0");
        let old = DeviceInfo { cache_hints: false, ..nvidia.clone() };
        assert_eq!(options(&old), " -DGROUP_SIZE=128 -DWARPS=1 -DUNROLLS=1 -DCACHE_HINTS=0");
        // Every GPU unrolls loops.
        let other = DeviceInfo { platform: "AMD Accelerated Parallel Processing".into(), ..nvidia.clone() };
        assert_eq!(options(&other), " -DGROUP_SIZE=32 -DWARPS=0 -DUNROLLS=1 -DCACHE_HINTS=0");
        assert_eq!(
            Teams::options_of(&cpu, Options::group_size(1)).to_string(),
            " -DGROUP_SIZE=1 -DWARPS=0 -DUNROLLS=0 -DCACHE_HINTS=0"
        );
        let largest = |max_group_size| Teams::of(&DeviceInfo { max_group_size, ..nvidia.clone() }).map(Teams::largest);
        assert_eq!([16, 64, 1024].map(largest), [None, Some(64), Some(256)]);
    }
}
