//! Plots as SVG text: bars and lines. All charts have the same size and style. The colours are the palette
//! of Okabe and Ito (*Color universal design*, 2008), which colour-blind readers can distinguish; each line also has
//! its own marker. The names of lines are on the right, in the order of the lines' right ends, with a thin leader from
//! each end to its name.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::{
    BLACK, ChartBuilder, Circle, Cross, DrawingArea, DynElement, IntoDrawingArea, IntoDynElement, IntoFont,
    IntoSegmentedCoord, PathElement, Polygon, RGBColor, Ranged, Rectangle, SVGBackend, SegmentValue, TRANSPARENT, Text,
    WHITE,
};
use plotters::style::Color as _;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::error::Error;
use std::ops::Range;
use thiserror::Error as ThisError;

/// Why a plot cannot be drawn.
#[derive(Debug, ThisError)]
#[error("cannot draw {title:?}: {reason}")]
#[non_exhaustive]
pub struct PlotError {
    /// The title of the plot.
    pub title: String,
    /// The reason.
    pub reason: String,
}

/// An axis. If all values are whole numbers, so are its labels.
#[derive(Copy, Clone, Debug)]
pub struct Axis<'a> {
    /// The text beside the axis.
    pub label: &'a str,
    /// Whether the axis is logarithmic; every value must then be above 0.
    pub log: bool,
}

/// A line of a plot.
#[derive(Clone, Debug)]
pub struct Line {
    /// The name at the right end.
    pub name: String,
    /// The points, from left to right.
    pub points: Vec<(f64, f64)>,
}

impl Line {
    /// Whether the line is horizontal: a reference level, drawn grey and dashed.
    fn is_level(&self) -> bool {
        self.points.len() > 1 && self.points.iter().all(|point| point.1 == self.points[0].1)
    }
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Pixel = (i32, i32);

/// Width of every chart in pixels, including title and names.
const WIDTH: u32 = 860;
const HEIGHT: u32 = 420;
const TITLE_SIZE: u32 = 18;
const FONT: &str = "sans-serif";
const FONT_SIZE: u32 = 12;
/// The largest mean width of the letters of a name, in pixels.
const LETTER_WIDTH: f64 = 6.0;
/// Pixels from one name to the next.
const LINE_HEIGHT: i32 = 16;
/// Pixels of the piece of line and the marker before a name.
const SAMPLE: i32 = 26;
/// Pixels between the right end of the axes and the names.
const LEADER: u32 = 30;
const MARGIN: u32 = 12;
/// Height of the labels below the axes.
const X_LABELS: u32 = 44;

/// The palette without yellow, which is hard to see on white.
const COLORS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];
const LEVEL: RGBColor = RGBColor(110, 110, 110);
const LEADER_COLOR: RGBColor = RGBColor(190, 190, 190);
/// Length of the dashes of horizontal lines, and of the gaps between them.
const DASHES: [(usize, usize); 3] = [(9, 4), (2, 3), (14, 7)];
/// The most markers on a line.
const MOST_MARKS: usize = 14;

/// A chart of vertical bars from 0 up, with names below.
///
/// ```
/// let bars = [("win".to_owned(), 3.0), ("draw".to_owned(), 1.0)];
/// let svg = report::plot::bar_chart("Games", "outcome", "games", &bars).unwrap();
/// assert!(svg.starts_with("<svg") && svg.contains("Games") && svg.contains("draw"));
/// ```
///
/// # Errors
/// If a value is not finite or is below 0.
pub fn bar_chart(title: &str, x_label: &str, y_label: &str, bars: &[(String, f64)]) -> Result<String, PlotError> {
    let failed = |reason: String| PlotError { title: title.to_owned(), reason };
    if bars.iter().any(|bar| !bar.1.is_finite() || bar.1 < 0.0) {
        return Err(failed("a bar value is negative or not finite".to_owned()));
    }
    let draw = || -> Result<String, Box<dyn Error>> {
        let mut svg = String::new();
        {
            let root = canvas(&mut svg, title)?;
            let heights = Scale::over(false, [0.0].into_iter().chain(bars.iter().map(|bar| bar.1)));
            let mut chart =
                frame(&root, MARGIN).build_cartesian_2d((0..bars.len().saturating_sub(1)).into_segmented(), heights)?;
            let name = |segment: &SegmentValue<usize>| match segment {
                SegmentValue::CenterOf(i) => bars.get(*i).map_or(String::new(), |bar| bar.0.clone()),
                _ => String::new(),
            };
            chart
                .configure_mesh()
                .disable_x_mesh()
                .light_line_style(TRANSPARENT)
                .x_labels(bars.len().max(1))
                .x_label_formatter(&name)
                .x_desc(x_label)
                .y_desc(y_label)
                .label_style((FONT, FONT_SIZE))
                .draw()?;
            chart.draw_series(bars.iter().enumerate().map(|(i, bar)| {
                let right = if i + 1 == bars.len() { SegmentValue::Last } else { SegmentValue::Exact(i + 1) };
                let ends = [(SegmentValue::Exact(i), 0.0), (right, bar.1)];
                let mut shape = Rectangle::new(ends, COLORS[0].filled());
                shape.set_margin(0, 0, 2, 2);
                shape
            }))?;
            root.present()?;
        }
        Ok(svg)
    };
    draw().map_err(|error| failed(error.to_string()))
}

/// A chart of lines through points. Several lines have names on the right, each near the height of its right end.
///
/// ```
/// use report::plot::{Axis, Line, line_chart};
/// let line = Line { name: "EvE".into(), points: vec![(1.0, 0.5), (10.0, 1.0)] };
/// let (x, y) = (Axis { label: "leaves", log: true }, Axis { label: "accuracy", log: false });
/// let svg = line_chart("Trees", x, y, &[line]).unwrap();
/// assert!(svg.starts_with("<svg") && svg.contains("polyline"));
/// ```
///
/// # Errors
/// If a value is not finite, or is not above 0 on a logarithmic axis, or a logarithmic axis has no values.
pub fn line_chart(title: &str, x: Axis, y: Axis, lines: &[Line]) -> Result<String, PlotError> {
    let failed = |reason: String| PlotError { title: title.to_owned(), reason };
    let points = || lines.iter().flat_map(|line| line.points.iter().copied());
    if points().any(|(a, b)| !a.is_finite() || !b.is_finite() || x.log && a <= 0.0 || y.log && b <= 0.0) {
        return Err(failed("a value has no place on its axis".to_owned()));
    }
    if (x.log || y.log) && points().next().is_none() {
        return Err(failed("a logarithmic axis needs a value".to_owned()));
    }
    let longest = lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
    let names = SAMPLE as u32 + (longest as f64 * LETTER_WIDTH) as u32;
    let right = MARGIN + if lines.len() > 1 { names + LEADER } else { 0 };
    let draw = || -> Result<String, Box<dyn Error>> {
        let mut svg = String::new();
        {
            let root = canvas(&mut svg, title)?;
            let mut chart = frame(&root, right).build_cartesian_2d(
                Scale::over(x.log, points().map(|p| p.0)),
                Scale::over(y.log, points().map(|p| p.1)),
            )?;
            chart
                .configure_mesh()
                .light_line_style(TRANSPARENT)
                .x_desc(x.label)
                .y_desc(y.label)
                .label_style((FONT, FONT_SIZE))
                .draw()?;
            let drawn: Vec<Drawn> = lines
                .iter()
                .zip(looks(lines))
                .map(|(line, look)| Drawn {
                    name: &line.name,
                    look,
                    pixels: line.points.iter().map(|point| chart.backend_coord(point)).collect(),
                })
                .collect();
            if lines.len() > 1 {
                write_names(&root, (WIDTH - MARGIN - names) as i32, &drawn)?;
            }
            drawn.iter().try_for_each(|line| line.look.draw(&root, &line.pixels))?;
            root.present()?;
        }
        Ok(svg)
    };
    draw().map_err(|error| failed(error.to_string()))
}

/// An empty picture with a centred title.
fn canvas<'a>(svg: &'a mut String, title: &str) -> Result<Area<'a>, Box<dyn Error>> {
    let root = SVGBackend::with_string(svg, (WIDTH, HEIGHT)).into_drawing_area();
    root.fill(&WHITE)?;
    let style = (FONT, TITLE_SIZE).into_font().color(&BLACK).pos(Pos::new(HPos::Center, VPos::Top));
    root.draw(&Text::new(title.to_owned(), (WIDTH as i32 / 2, MARGIN as i32), style))?;
    Ok(root)
}

/// The axes below the title, with space for their labels and, on the right, for names.
fn frame<'a, 'b>(root: &'a Area<'b>, right: u32) -> ChartBuilder<'a, 'b, SVGBackend<'b>> {
    let mut chart = ChartBuilder::on(root);
    let top = 2 * MARGIN + TITLE_SIZE;
    chart.margin(MARGIN).margin_top(top).margin_right(right).x_label_area_size(X_LABELS).y_label_area_size(64);
    chart
}

/// A line in pixels.
struct Drawn<'a> {
    name: &'a str,
    look: Look,
    pixels: Vec<Pixel>,
}

/// Writes the names of lines beside their right ends, moved apart as necessary, with a leader from end to name.
fn write_names(root: &Area<'_>, left: i32, lines: &[Drawn]) -> Result<(), Box<dyn Error>> {
    let mut ends: Vec<(Pixel, &Drawn)> =
        lines.iter().filter_map(|line| line.pixels.last().map(|&end| (end, line))).collect();
    // If ends have the same height, the rightmost comes first; otherwise leaders would cross.
    ends.sort_by_key(|&((x, y), _)| (y, -x));
    let heights = apart(ends.iter().map(|&((_, y), _)| y).collect(), LINE_HEIGHT, (HEIGHT - MARGIN - X_LABELS) as i32);
    for (height, (end, line)) in heights.into_iter().zip(ends) {
        root.draw(&PathElement::new(vec![end, (left - 4, height)], LEADER_COLOR.stroke_width(1)))?;
        line.look.draw_sample(root, (left, height))?;
        let style = (FONT, FONT_SIZE).into_font().color(&BLACK);
        root.draw(&Text::new(line.name.to_owned(), (left + SAMPLE, height - FONT_SIZE as i32 / 2), style))?;
    }
    Ok(())
}

/// Moves ascending heights so that they are at least `gap` apart and, if possible, none is below `last`.
fn apart(mut heights: Vec<i32>, gap: i32, last: i32) -> Vec<i32> {
    for i in 1..heights.len() {
        heights[i] = heights[i].max(heights[i - 1] + gap);
    }
    let mut most = last;
    for height in heights.iter_mut().rev() {
        *height = (*height).min(most);
        most = *height - gap;
    }
    heights
}

/// The colour and marker of a line.
#[derive(Copy, Clone)]
enum Look {
    /// Its number among the other lines.
    Line(usize),
    /// Its number among the horizontal lines.
    Level(usize),
}

/// The looks of lines, in their order.
fn looks(lines: &[Line]) -> Vec<Look> {
    let (mut drawn, mut levels) = (0, 0);
    let look = |line: &Line| {
        let (count, look): (&mut usize, fn(usize) -> Look) =
            if line.is_level() { (&mut levels, Look::Level) } else { (&mut drawn, Look::Line) };
        *count += 1;
        look(*count - 1)
    };
    lines.iter().map(look).collect()
}

impl Look {
    /// Draws a line, with markers at some of its points unless it is horizontal.
    fn draw(self, root: &Area<'_>, points: &[Pixel]) -> Result<(), Box<dyn Error>> {
        let every = points.len().div_ceil(MOST_MARKS).max(1);
        // The markers of different lines have different places.
        let first = if let Look::Line(i) = self { i * every / 4 % every } else { 0 };
        let marked: Vec<Pixel> = points.iter().skip(first).step_by(every).copied().collect();
        self.draw_marked(root, points, &marked)
    }

    /// Draws a short piece of the line before its name.
    fn draw_sample(self, root: &Area<'_>, (x, y): Pixel) -> Result<(), Box<dyn Error>> {
        self.draw_marked(root, &[(x, y), (x + SAMPLE - 6, y)], &[(x + SAMPLE / 2 - 3, y)])
    }

    fn draw_marked(self, root: &Area<'_>, points: &[Pixel], marked: &[Pixel]) -> Result<(), Box<dyn Error>> {
        match self {
            Look::Level(i) => {
                // Each dash is drawn separately: plotters' `DashedPathElement` does not terminate if rounding loses a
                // step.
                let (dash, space) = DASHES[i % DASHES.len()];
                let (Some(&(left, y)), Some(&(right, _))) = (points.first(), points.last()) else { return Ok(()) };
                for x in (left..right).step_by(dash + space) {
                    let ends = vec![(x, y), (right.min(x + dash as i32), y)];
                    root.draw(&PathElement::new(ends, LEVEL.stroke_width(2)))?;
                }
            }
            Look::Line(i) => {
                let color = COLORS[i % COLORS.len()];
                root.draw(&PathElement::new(points.to_vec(), color.stroke_width(2)))?;
                marked.iter().try_for_each(|&at| root.draw(&mark(i, at, color)))?;
            }
        }
        Ok(())
    }
}

/// The marker of a line. Colours repeat after seven lines and shapes after six, so that 42 lines differ.
fn mark<'a>(line: usize, (x, y): Pixel, color: RGBColor) -> DynElement<'a, SVGBackend<'a>, Pixel> {
    let (full, hollow) = (color.filled(), color.stroke_width(2));
    let shape =
        |corners: &[Pixel]| Polygon::new(corners.iter().map(|&(a, b)| (x + a, y + b)).collect::<Vec<_>>(), full);
    match line % 6 {
        0 => Circle::new((x, y), 4, full).into_dyn(),
        1 => shape(&[(-4, 4), (4, 4), (0, -5)]).into_dyn(),
        2 => shape(&[(-4, -4), (4, -4), (4, 4), (-4, 4)]).into_dyn(),
        3 => shape(&[(-5, 0), (0, -5), (5, 0), (0, 5)]).into_dyn(),
        4 => Cross::new((x, y), 4, hollow).into_dyn(),
        _ => Circle::new((x, y), 4, hollow).into_dyn(),
    }
}

/// The values of an axis, linear or logarithmic.
struct Scale {
    /// The ends of the axis; their logarithms if it is logarithmic.
    places: RangedCoordf64,
    log: bool,
    /// Whether all values are whole numbers.
    whole: bool,
}

impl Scale {
    /// An axis that contains all values, with a small margin at either end except at 0.
    fn over(log: bool, values: impl Iterator<Item = f64>) -> Scale {
        let (mut low, mut high, mut whole) = (f64::MAX, f64::MIN, true);
        for value in values {
            whole &= value.fract() == 0.0;
            let place = if log { value.log10() } else { value };
            (low, high) = (low.min(place), high.max(place));
        }
        let room = (high - low) * 0.03;
        let ends = if low < high {
            low - if low == 0.0 { 0.0 } else { room }..high + room
        } else {
            low.min(0.0) - 1.0..low.max(0.0) + 1.0
        };
        Scale { places: ends.into(), log, whole }
    }

    fn value(&self, place: f64) -> f64 {
        if self.log { 10f64.powf(place) } else { place }
    }
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.places.map(&if self.log { value.log10() } else { *value }, limit)
    }

    /// The labelled values. On a logarithmic axis, they are 1, 2 and 5 times each power of ten, or the subset that
    /// fits.
    fn key_points<H: KeyPointHint>(&self, hint: H) -> Vec<f64> {
        if !self.log {
            let points = self.places.key_points(hint);
            return points.into_iter().filter(|point| !self.whole || point.fract() == 0.0).collect();
        }
        let ends = self.places.range();
        let powers = ends.start.floor() as i32..=ends.end.ceil() as i32;
        let steps: [(&[f64], i32); 5] =
            [(&[1.0, 2.0, 5.0], 1), (&[1.0, 3.0], 1), (&[1.0], 1), (&[1.0], 2), (&[1.0], 4)];
        let points = steps.into_iter().map(|(digits, every)| {
            let all = powers
                .clone()
                .filter(|power| power % every == 0)
                .flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powi(power)));
            all.filter(|value| ends.contains(&value.log10())).collect::<Vec<_>>()
        });
        // An axis between two of these numbers gets the labels of a linear axis.
        let between =
            || self.places.key_points(hint.max_num_points()).into_iter().map(|place| self.value(place)).collect();
        let mut fitting = points.filter(|points| points.len() <= hint.max_num_points());
        fitting.next().filter(|points| points.len() > 1).unwrap_or_else(between)
    }

    fn range(&self) -> Range<f64> {
        let ends = self.places.range();
        self.value(ends.start)..self.value(ends.end)
    }
}

impl ValueFormatter<f64> for Scale {
    fn format(value: &f64) -> String {
        number(*value)
    }
}

/// A number for a label, as short as possible: 20 k, 500 M, 10 G, 1 T; a power of ten (10⁻⁵) if no prefix fits.
fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-3..1e15).contains(&size) {
        let power = size.log10().floor();
        let factor = short(value / 10f64.powf(power));
        let power: String = (power as i32).to_string().chars().map(superscript).collect();
        return if factor == "1" { format!("10{power}") } else { format!("{factor}·10{power}") };
    }
    let units = [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e4, " k")];
    let (unit, letter) = units.into_iter().find(|unit| size >= unit.0).unwrap_or((1.0, ""));
    short(value / if letter == " k" { 1e3 } else { unit }) + letter
}

/// A number with at most three decimals.
fn short(value: f64) -> String {
    let digits = if value.abs() >= 100.0 { 0 } else { 3 };
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn superscript(digit: char) -> char {
    match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        _ => char::from_u32('⁰' as u32 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(log: bool, values: &[f64], most: usize) -> Vec<String> {
        Scale::over(log, values.iter().copied()).key_points(most).into_iter().map(number).collect()
    }

    #[test]
    fn logarithmic_axes_have_round_labels() {
        assert_eq!(labels(true, &[1.0, 100.0], 10), ["1", "2", "5", "10", "20", "50", "100"]);
        assert_eq!(labels(true, &[1.0, 100.0], 5), ["1", "3", "10", "30", "100"]);
        assert_eq!(labels(true, &[1.0, 1e6], 4), ["1", "100", "10 k", "1 M"]);
        assert_eq!(labels(true, &[1e9, 2e11], 4), ["1 G", "10 G", "100 G"]);
        assert!(labels(true, &[2.1, 4.9], 10).len() > 2, "no round number between them");
    }

    #[test]
    fn whole_numbers_have_whole_labels() {
        assert_eq!(labels(false, &[2.0, 3.0, 5.0], 10), ["2", "3", "4", "5"]);
        assert!(labels(false, &[2.0, 3.5, 5.0], 10).contains(&"2.5".to_owned()));
    }

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (0.25, "0.25"),
            (0.001, "0.001"),
            (2e-5, "2·10⁻⁵"),
            (1e-12, "10⁻¹²"),
            (9999.0, "9999"),
            (12_500.0, "12.5 k"),
            (2e11, "200 G"),
            (1e12, "1 T"),
            (1e15, "10¹⁵"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn names_stay_apart() {
        assert_eq!(apart(vec![10, 50, 90], 16, 400), [10, 50, 90]);
        assert_eq!(apart(vec![10, 12, 13], 16, 400), [10, 26, 42]);
        assert_eq!(apart(vec![390, 395, 399], 16, 400), [368, 384, 400]);
    }

    #[test]
    fn no_two_lines_look_alike() {
        let looks: Vec<(usize, usize)> = (0..42).map(|i| (i % COLORS.len(), i % 6)).collect();
        let different: std::collections::HashSet<_> = looks.iter().collect();
        assert_eq!(different.len(), looks.len());
    }
}
