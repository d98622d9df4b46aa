//! The vector instructions of this CPU. Hot code is written once and compiled for each level; the program selects the
//! level at run time.

use std::sync::OnceLock;

use thiserror::Error;

/// A set of vector instructions.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CpuLevel {
    /// The instructions that every machine of the target architecture supports.
    Portable,
    /// NEON, which every ARM processor of 64 bits has.
    Neon,
    /// AVX2, BMI and POPCNT.
    Avx2,
    /// AVX-512 F, BW, DQ, VL and VPOPCNTDQ.
    Avx512,
}

/// The error for an unknown level, or a level that this CPU does not support.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("DSQ_CPU={0}: here it may be {there}", there = CpuLevel::available().map(CpuLevel::name).collect::<Vec<_>>().join(", "))]
pub struct ParseCpuLevelError(String);

impl CpuLevel {
    /// All levels, the lowest first.
    pub const ALL: [CpuLevel; 4] = [CpuLevel::Portable, CpuLevel::Neon, CpuLevel::Avx2, CpuLevel::Avx512];

    /// The highest level that this CPU supports.
    #[must_use]
    pub fn best() -> CpuLevel {
        static BEST: OnceLock<CpuLevel> = OnceLock::new();
        *BEST.get_or_init(CpuLevel::detect)
    }

    /// The level to use: the level that the environment variable `DSQ_CPU` names, or the best level if the variable is
    /// not set or names no level that this CPU supports.
    #[must_use]
    pub fn get() -> CpuLevel {
        static LEVEL: OnceLock<CpuLevel> = OnceLock::new();
        *LEVEL.get_or_init(|| CpuLevel::from_env().unwrap_or_else(|_| CpuLevel::best()))
    }

    /// The level that the environment variable `DSQ_CPU` (`portable`, `neon`, `avx2`, `avx512`) names, or the best level
    /// if the variable is not set.
    ///
    /// # Errors
    ///
    /// [`ParseCpuLevelError`] if the variable names no level, or a level that this CPU does not support.
    pub fn from_env() -> Result<CpuLevel, ParseCpuLevelError> {
        let name = std::env::var_os("DSQ_CPU").filter(|name| !name.is_empty());
        let Some(name) = name else { return Ok(CpuLevel::best()) };
        let found = CpuLevel::available().find(|level| name == level.name());
        found.ok_or_else(|| ParseCpuLevelError(name.to_string_lossy().into_owned()))
    }

    /// The name of the level.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            CpuLevel::Portable => "portable",
            CpuLevel::Neon => "neon",
            CpuLevel::Avx2 => "avx2",
            CpuLevel::Avx512 => "avx512",
        }
    }

    /// The levels that this CPU can run.
    pub fn available() -> impl Iterator<Item = CpuLevel> {
        let is_here = |level: &CpuLevel| {
            *level <= CpuLevel::best() && (*level != CpuLevel::Neon || cfg!(target_arch = "aarch64"))
        };
        CpuLevel::ALL.into_iter().filter(is_here)
    }

    #[cfg(target_arch = "x86_64")]
    fn detect() -> CpuLevel {
        let avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        let avx512 = avx2
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vpopcntdq");
        match (avx2, avx512) {
            (_, true) => CpuLevel::Avx512,
            (true, _) => CpuLevel::Avx2,
            _ => CpuLevel::Portable,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn detect() -> CpuLevel {
        if cfg!(target_arch = "aarch64") { CpuLevel::Neon } else { CpuLevel::Portable }
    }
}

/// Defines `avx2` and `avx512`: a function compiled for each level with vector instructions.
macro_rules! with_features {
    (fn($($arg:ident: $ty:ty),*) $(-> $ret:ty)? = $avx2:path, $avx512:path) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn avx2($($arg: $ty),*) $(-> $ret)? {
            $avx2($($arg),*)
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(
            enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq"
        )]
        fn avx512($($arg: $ty),*) $(-> $ret)? {
            $avx512($($arg),*)
        }
    };
}
pub(crate) use with_features;

/// Calls a function compiled for a [`CpuLevel`]. The function must be `#[inline(always)]`. With `::<V>` after its name,
/// `V` is the [`Vector`] of the level.
macro_rules! dispatch {
    ($level:expr, fn($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? = $body:ident::<V>) => {
        $crate::cpu::dispatch!($level, fn($($arg: $ty),*) $(-> $ret)? =
            $body::<$crate::cpu::Portable>, $body::<$crate::cpu::Neon>, $body::<$crate::cpu::Avx2>,
            $body::<$crate::cpu::Avx512>)
    };
    ($level:expr, fn($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? = $body:path) => {
        $crate::cpu::dispatch!($level, fn($($arg: $ty),*) $(-> $ret)? = $body, $body, $body, $body)
    };
    (
        $level:expr, fn($($arg:ident: $ty:ty),*) $(-> $ret:ty)? =
        $portable:path, $neon:path, $avx2:path, $avx512:path
    ) => {{
        $crate::cpu::with_features!(fn($($arg: $ty),*) $(-> $ret)? = $avx2, $avx512);
        // The level is at most the best, so the CPU supports the instructions of the calls below.
        match $level.min($crate::cpu::CpuLevel::best()) {
            // SAFETY: `CpuLevel::detect` found every feature that `avx512` is compiled with.
            #[cfg(target_arch = "x86_64")]
            $crate::cpu::CpuLevel::Avx512 => unsafe { avx512($($arg),*) },
            // SAFETY: likewise.
            #[cfg(target_arch = "x86_64")]
            $crate::cpu::CpuLevel::Avx2 => unsafe { avx2($($arg),*) },
            #[cfg(target_arch = "aarch64")]
            $crate::cpu::CpuLevel::Neon => $neon($($arg),*),
            _ => $portable($($arg),*),
        }
    }};
}
pub(crate) use dispatch;

/// A pointer to a function compiled for a [`CpuLevel`], which selects the level once for many calls. The function must be
/// `#[inline(always)]`.
#[cfg(feature = "search")]
macro_rules! compiled {
    ($level:expr, fn($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? = $body:path) => {{
        $crate::cpu::with_features!(fn($($arg: $ty),*) $(-> $ret)? = $body, $body);
        fn portable($($arg: $ty),*) $(-> $ret)? {
            $body($($arg),*)
        }
        #[cfg(target_arch = "x86_64")]
        fn call_avx2($($arg: $ty),*) $(-> $ret)? {
            // SAFETY: this function is selected below only if `CpuLevel::detect` found these features.
            unsafe { avx2($($arg),*) }
        }
        #[cfg(target_arch = "x86_64")]
        fn call_avx512($($arg: $ty),*) $(-> $ret)? {
            // SAFETY: likewise.
            unsafe { avx512($($arg),*) }
        }
        let function: fn($($ty),*) $(-> $ret)? = match $level.min($crate::cpu::CpuLevel::best()) {
            #[cfg(target_arch = "x86_64")]
            $crate::cpu::CpuLevel::Avx512 => call_avx512,
            #[cfg(target_arch = "x86_64")]
            $crate::cpu::CpuLevel::Avx2 => call_avx2,
            _ => portable,
        };
        function
    }};
}
#[cfg(feature = "search")]
pub(crate) use compiled;

/// The few operations for which the compiler does not select the right instruction by itself.
pub(crate) trait Vector {
    /// Writes `code` to the cells whose bit in `mask` is set.
    fn store(cells: &mut [u8; 64], mask: u64, code: u8);
    /// The set of lanes that contain `value`.
    fn equal(lanes: &[u16; 64], value: u16) -> u64;
}

/// Plain code for every CPU.
pub(crate) struct Portable;

impl Vector for Portable {
    #[inline(always)]
    fn store(cells: &mut [u8; 64], mask: u64, code: u8) {
        let mut rest = mask;
        while rest != 0 {
            cells[(rest.trailing_zeros() & 63) as usize] = code;
            rest &= rest - 1;
        }
    }

    #[inline(always)]
    fn equal(lanes: &[u16; 64], value: u16) -> u64 {
        // Four lanes to a word, an exact test for zero lanes, and a multiplication that gathers the top bits.
        const LOW: u64 = 0x7fff_7fff_7fff_7fff;
        let wanted = u64::from(value) * 0x0001_0001_0001_0001;
        let mut mask = 0;
        for (i, four) in lanes.as_chunks::<4>().0.iter().enumerate() {
            let word =
                u64::from(four[0]) | u64::from(four[1]) << 16 | u64::from(four[2]) << 32 | u64::from(four[3]) << 48;
            let differs = word ^ wanted;
            let zero = !(((differs & LOW) + LOW) | differs | LOW);
            // The summands 2^60, 2^45, 2^30, 2^15 move bits 0, 16, 32, 48 to bits 60 to 63.
            mask |= ((zero >> 15).wrapping_mul(0x1000_2000_4000_8000) >> 60) << (4 * i);
        }
        mask
    }
}

/// The NEON twins of [`Portable`].
#[cfg(target_arch = "aarch64")]
pub(crate) struct Neon;

#[cfg(target_arch = "aarch64")]
impl Vector for Neon {
    #[inline(always)]
    fn store(cells: &mut [u8; 64], mask: u64, code: u8) {
        Portable::store(cells, mask, code);
    }

    #[inline(always)]
    fn equal(lanes: &[u16; 64], value: u16) -> u64 {
        use std::arch::aarch64::{
            uint8x16_t, vandq_u8, vceqq_u16, vcombine_u8, vdupq_n_u16, vgetq_lane_u64, vld1q_u8, vld1q_u16, vmovn_u16,
            vpaddq_u8, vreinterpretq_u64_u8,
        };
        // SAFETY: all processors of this architecture have NEON; 128 bytes are readable at `lanes`, and 16 at the bits.
        unsafe {
            let wanted = vdupq_n_u16(value);
            let bits = vld1q_u8([1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128].as_ptr());
            // One bit in each byte of 16 lanes.
            let sixteen = |i: usize| -> uint8x16_t {
                let eight = |at: usize| vmovn_u16(vceqq_u16(vld1q_u16(lanes[at..].as_ptr()), wanted));
                vandq_u8(vcombine_u8(eight(16 * i), eight(16 * i + 8)), bits)
            };
            // Three sums of neighbours gather the bits of eight bytes in one.
            let sums = vpaddq_u8(vpaddq_u8(sixteen(0), sixteen(1)), vpaddq_u8(sixteen(2), sixteen(3)));
            vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
        }
    }
}

/// The AVX2 twins of [`Portable`]. Only for functions that [`dispatch!`] compiles for AVX2.
#[cfg(target_arch = "x86_64")]
pub(crate) struct Avx2;

#[cfg(target_arch = "x86_64")]
impl Vector for Avx2 {
    #[inline(always)]
    fn store(cells: &mut [u8; 64], mask: u64, code: u8) {
        Portable::store(cells, mask, code);
    }

    #[inline(always)]
    fn equal(lanes: &[u16; 64], value: u16) -> u64 {
        use std::arch::x86_64::{
            _mm256_cmpeq_epi16, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_packs_epi16, _mm256_permute4x64_epi64,
            _mm256_set1_epi16,
        };
        // SAFETY: `dispatch!` calls this only where AVX2 was detected; 128 bytes are readable at `lanes`.
        unsafe {
            let wanted = _mm256_set1_epi16(value as i16);
            let mut mask = 0;
            for half in 0..2 {
                let low = _mm256_loadu_si256(lanes[32 * half..].as_ptr().cast());
                let high = _mm256_loadu_si256(lanes[32 * half + 16..].as_ptr().cast());
                // The pack narrows lanes from 16 to 8 bits within each half of a register; the permutation restores the
                // order.
                let bytes = _mm256_packs_epi16(_mm256_cmpeq_epi16(low, wanted), _mm256_cmpeq_epi16(high, wanted));
                let bits = _mm256_movemask_epi8(_mm256_permute4x64_epi64::<0b11_01_10_00>(bytes)) as u32;
                mask |= u64::from(bits) << (32 * half);
            }
            mask
        }
    }
}

/// The AVX-512 twins of [`Portable`]. Only for functions that [`dispatch!`] compiles for AVX-512.
#[cfg(target_arch = "x86_64")]
pub(crate) struct Avx512;

#[cfg(target_arch = "x86_64")]
impl Vector for Avx512 {
    #[inline(always)]
    fn store(cells: &mut [u8; 64], mask: u64, code: u8) {
        use std::arch::x86_64::{_mm512_mask_storeu_epi8, _mm512_set1_epi8};
        // SAFETY: `dispatch!` calls this only where AVX-512 BW was detected; 64 bytes are writable at `cells`.
        unsafe { _mm512_mask_storeu_epi8(cells.as_mut_ptr().cast(), mask, _mm512_set1_epi8(code as i8)) }
    }

    #[inline(always)]
    fn equal(lanes: &[u16; 64], value: u16) -> u64 {
        use std::arch::x86_64::{_mm512_cmpeq_epi16_mask, _mm512_loadu_si512, _mm512_set1_epi16};
        // SAFETY: `dispatch!` calls this only where AVX-512 BW was detected; 128 bytes are readable at `lanes`.
        unsafe {
            let wanted = _mm512_set1_epi16(value as i16);
            let low = _mm512_cmpeq_epi16_mask(_mm512_loadu_si512(lanes.as_ptr().cast()), wanted);
            let high = _mm512_cmpeq_epi16_mask(_mm512_loadu_si512(lanes[32..].as_ptr().cast()), wanted);
            u64::from(low) | u64::from(high) << 32
        }
    }
}

/// Prefetches memory that will be read soon into the second-level cache. On an AMD EPYC (family 25, model 17) this
/// halves the time to read scattered pieces of 512 bytes, compared with no prefetch and with a prefetch into the
/// first-level cache (results/experiments.md).
#[inline(always)]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        let start = std::ptr::from_ref(value).cast::<i8>();
        for offset in (0..size_of::<T>()).step_by(64) {
            // SAFETY: the address is within `value`, and a prefetch is only a hint.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(start.add(offset)) };
        }
    }
    #[cfg(target_arch = "aarch64")]
    for offset in (0..size_of::<T>()).step_by(64) {
        // SAFETY: the address is within `value`, and a prefetch is only a hint.
        unsafe {
            let at = std::ptr::from_ref(value).cast::<u8>().add(offset);
            std::arch::asm!("prfm pldl2keep, [{at}]", at = in(reg) at, options(nostack, preserves_flags, readonly));
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = value;
}

/// The CPU's name as reported by the operating system; the architecture if it reports none.
#[must_use]
pub fn cpu_name() -> String {
    std::fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| name_in(&text))
        // On Windows.
        .or_else(|| std::env::var("PROCESSOR_IDENTIFIER").ok())
        .unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

/// The name in a text in the format of `/proc/cpuinfo`. Virtual machines report a brand without a number ("AMD EPYC");
/// then family and model are added to distinguish the generations.
fn name_in(text: &str) -> Option<String> {
    let value = |key| {
        let is = |line: &&str| line.split(':').next().is_some_and(|name| name.trim() == key);
        Some(text.lines().find(is)?.split_once(':')?.1.trim())
    };
    let name = value("model name")?;
    Some(match (value("cpu family"), value("model")) {
        (Some(family), Some(model)) if !name.contains(|c: char| c.is_ascii_digit()) => {
            format!("{name} family {family} model {model}")
        }
        _ => name.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    #[inline(always)]
    fn store<V: Vector>(cells: &mut [u8; 64], mask: u64, code: u8) {
        V::store(cells, mask, code);
    }

    #[inline(always)]
    fn equal<V: Vector>(lanes: &[u16; 64], value: u16) -> u64 {
        V::equal(lanes, value)
    }

    fn store_at(level: CpuLevel, cells: &mut [u8; 64], mask: u64, code: u8) {
        dispatch!(level, fn(cells: &mut [u8; 64], mask: u64, code: u8) = store::<V>);
    }

    fn equal_at(level: CpuLevel, lanes: &[u16; 64], value: u16) -> u64 {
        dispatch!(level, fn(lanes: &[u16; 64], value: u16) -> u64 = equal::<V>)
    }

    #[test]
    fn names_without_a_number_get_one() {
        let text = "processor\t: 0\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\n";
        assert_eq!(name_in(text).as_deref(), Some("AMD EPYC family 26 model 2"));
        let numbered = text.replace("AMD EPYC", "AMD EPYC 7763");
        assert_eq!(name_in(&numbered).as_deref(), Some("AMD EPYC 7763"));
        assert_eq!(name_in("model name\t: a name\n").as_deref(), Some("a name"));
        assert_eq!(name_in("Features : fp asimd\n"), None);
    }

    /// Words with few, half and many bits set, and extreme values.
    fn masks(random: &mut Pcg64) -> Vec<u64> {
        let mut masks = vec![0, 1, 1 << 63, u64::MAX, u64::MAX >> 1];
        for _ in 0..200 {
            let (a, b, c) = (random.next_u64(), random.next_u64(), random.next_u64());
            masks.extend([a, a & b & c, a | b | c, 1 << (a & 63)]);
        }
        masks
    }

    #[test]
    fn every_level_stores_in_the_same_cells() {
        let mut random = Pcg64::seed_from_u64(1);
        for mask in masks(&mut random) {
            let code = random.next_u64() as u8;
            let before: [u8; 64] = std::array::from_fn(|_| random.next_u64() as u8);
            let expected: [u8; 64] = std::array::from_fn(|i| if mask >> i & 1 != 0 { code } else { before[i] });
            for level in CpuLevel::available() {
                let mut cells = before;
                store_at(level, &mut cells, mask, code);
                assert_eq!(cells, expected, "{} with {mask:#x}", level.name());
            }
        }
    }

    #[test]
    fn every_level_finds_the_same_lanes() {
        let mut random = Pcg64::seed_from_u64(2);
        // Values that differ from one another by a borrow, a carry or the top bit.
        let near = [0, 1, 2, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff];
        for mask in masks(&mut random) {
            let any = random.next_u64() as u16;
            for value in near.into_iter().chain([any]) {
                let lanes: [u16; 64] = std::array::from_fn(|i| {
                    if mask >> i & 1 != 0 {
                        return value;
                    }
                    let random = random.next_u64();
                    match random & 3 {
                        0 => value ^ 1 << (random >> 8 & 15),
                        1 => near[(random >> 8) as usize % near.len()],
                        _ => (random >> 16) as u16,
                    }
                });
                let expected = (0..64).fold(0, |set, i| set | u64::from(lanes[i] == value) << i);
                assert_eq!(expected & mask, mask);
                for level in CpuLevel::available() {
                    assert_eq!(equal_at(level, &lanes, value), expected, "{}: {value:#x}", level.name());
                }
            }
        }
    }

    #[test]
    fn a_level_beyond_the_best_is_not_called() {
        let mut cells = [0; 64];
        store_at(CpuLevel::Avx512, &mut cells, 0b101, 7);
        assert_eq!(cells[..4], [7, 0, 7, 0]);
    }

    #[test]
    fn levels_have_an_order_and_a_name() {
        assert!(CpuLevel::ALL.is_sorted());
        assert_eq!(CpuLevel::ALL.map(CpuLevel::name), ["portable", "neon", "avx2", "avx512"]);
        assert_eq!(CpuLevel::available().last(), Some(CpuLevel::best()));
        assert!(CpuLevel::get() <= CpuLevel::best());
    }
}
