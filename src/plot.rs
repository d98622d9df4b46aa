//! Small plots as SVG text: bars and lines.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use std::error::Error;
use std::ops::Range;
use thiserror::Error as ThisError;

/// Why a plot was not drawn.
#[derive(Debug, ThisError)]
#[error("cannot draw {title:?}: {reason}")]
pub struct PlotError {
    pub title: String,
    pub reason: String,
}

/// An axis.
#[derive(Copy, Clone, Debug)]
pub struct Axis<'a> {
    pub label: &'a str,
    /// Logarithmic: every value must be above 0.
    pub log: bool,
}

/// A line of a plot.
#[derive(Clone, Debug)]
pub struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

const SIZE: (u32, u32) = (720, 420);
const FONT: &str = "sans-serif";
const COLORS: [RGBColor; 6] = [
    RGBColor(31, 119, 180),
    RGBColor(214, 90, 20),
    RGBColor(44, 140, 60),
    RGBColor(170, 40, 60),
    RGBColor(120, 90, 180),
    RGBColor(110, 110, 110),
];

/// Vertical bars, each under its name, from 0 up.
///
/// ```
/// let bars = [("win".to_owned(), 3.0), ("draw".to_owned(), 1.0)];
/// let svg = doushouqi::plot::bar_chart("Games", "outcome", "games", &bars).unwrap();
/// assert!(svg.starts_with("<svg") && svg.contains("Games") && svg.contains("draw"));
/// ```
pub fn bar_chart(title: &str, x_label: &str, y_label: &str, bars: &[(String, f64)]) -> Result<String, PlotError> {
    let draw = || -> Result<String, Box<dyn Error>> {
        let mut svg = String::new();
        {
            let top = bars.iter().map(|bar| bar.1).fold(0.0, f64::max) * 1.05;
            let top = if top > 0.0 { top } else { 1.0 };
            let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
            root.fill(&WHITE)?;
            let mut chart =
                frame(&root, title).build_cartesian_2d((0..bars.len().max(1)).into_segmented(), 0.0..top)?;
            let name = |segment: &SegmentValue<usize>| match segment {
                SegmentValue::CenterOf(i) => bars.get(*i).map_or(String::new(), |bar| bar.0.clone()),
                _ => String::new(),
            };
            chart
                .configure_mesh()
                .disable_x_mesh()
                .x_labels(bars.len().max(1))
                .x_label_formatter(&name)
                .x_desc(x_label)
                .y_desc(y_label)
                .label_style((FONT, 12))
                .draw()?;
            chart.draw_series(bars.iter().enumerate().map(|(i, bar)| {
                let mut shape = Rectangle::new(
                    [(SegmentValue::Exact(i), 0.0), (SegmentValue::Exact(i + 1), bar.1)],
                    COLORS[0].filled(),
                );
                shape.set_margin(0, 0, 2, 2);
                shape
            }))?;
            root.present()?;
        }
        Ok(svg)
    };
    draw().map_err(|error| PlotError { title: title.to_owned(), reason: error.to_string() })
}

/// Lines through points, with a legend.
///
/// ```
/// use doushouqi::plot::{Axis, Line, line_chart};
/// let line = Line { name: "EvE".into(), points: vec![(1.0, 0.5), (10.0, 1.0)] };
/// let (x, y) = (Axis { label: "leaves", log: true }, Axis { label: "accuracy", log: false });
/// let svg = line_chart("Trees", x, y, &[line]).unwrap();
/// assert!(svg.starts_with("<svg") && svg.contains("polyline"));
/// ```
pub fn line_chart(title: &str, x: Axis, y: Axis, lines: &[Line]) -> Result<String, PlotError> {
    let failed = |reason: String| PlotError { title: title.to_owned(), reason };
    let points = || lines.iter().flat_map(|line| line.points.iter().copied());
    if points().any(|(a, b)| !a.is_finite() || !b.is_finite() || x.log && a <= 0.0 || y.log && b <= 0.0) {
        return Err(failed("a value has no place on its axis".to_owned()));
    }
    let draw = || -> Result<String, Box<dyn Error>> {
        let mut svg = String::new();
        {
            let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
            root.fill(&WHITE)?;
            let mut chart = frame(&root, title).build_cartesian_2d(
                Scale::over(x.log, points().map(|p| p.0)),
                Scale::over(y.log, points().map(|p| p.1)),
            )?;
            chart
                .configure_mesh()
                .light_line_style(WHITE)
                .x_desc(x.label)
                .y_desc(y.label)
                .label_style((FONT, 12))
                .draw()?;
            for (line, color) in lines.iter().zip(COLORS.iter().cycle()) {
                chart
                    .draw_series(LineSeries::new(line.points.iter().copied(), color.stroke_width(2)))?
                    .label(&line.name)
                    .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2)));
            }
            if lines.len() > 1 {
                chart
                    .configure_series_labels()
                    .background_style(WHITE)
                    .border_style(BLACK.mix(0.3))
                    .label_font((FONT, 12))
                    .draw()?;
            }
            root.present()?;
        }
        Ok(svg)
    };
    draw().map_err(|error| failed(error.to_string()))
}

/// A chart under its title, with room for labels.
fn frame<'a, 'b>(root: &'a DrawingArea<SVGBackend<'b>, Shift>, title: &str) -> ChartBuilder<'a, 'b, SVGBackend<'b>> {
    let mut chart = ChartBuilder::on(root);
    chart.caption(title, (FONT, 18)).margin(12).x_label_area_size(48).y_label_area_size(64);
    chart
}

/// Where values stand on an axis: over their logarithms, if it is logarithmic.
struct Scale {
    places: RangedCoordf64,
    log: bool,
}

impl Scale {
    /// An axis that all values are on.
    fn over(log: bool, values: impl Iterator<Item = f64>) -> Scale {
        let (low, high) = values
            .map(|value| if log { value.log10() } else { value })
            .fold((f64::MAX, f64::MIN), |(low, high), place| (low.min(place), high.max(place)));
        let ends = if low < high { low..high + (high - low) * 0.03 } else { low.min(0.0) - 1.0..low.max(0.0) + 1.0 };
        Scale { places: ends.into(), log }
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

    /// On a logarithmic axis 1, 2 and 5 of each power of ten, or as many of them as there is room for.
    fn key_points<H: KeyPointHint>(&self, hint: H) -> Vec<f64> {
        if !self.log {
            return self.places.key_points(hint);
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
        // Between two such numbers the axis is labelled as any other.
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

/// A number as short as can be for a label.
fn number(value: f64) -> String {
    let size = value.abs();
    if size >= 1e6 {
        format!("{value:.1e}")
    } else if size >= 10.0 || value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.3}").trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithmic_axes_have_round_labels() {
        let labels = |values: [f64; 2], most: usize| {
            Scale::over(true, values.into_iter()).key_points(most).into_iter().map(number).collect::<Vec<_>>()
        };
        assert_eq!(labels([1.0, 100.0], 10), ["1", "2", "5", "10", "20", "50", "100"]);
        assert_eq!(labels([1.0, 100.0], 5), ["1", "3", "10", "30", "100"]);
        assert_eq!(labels([1.0, 1e6], 4), ["1", "100", "10000", "1.0e6"]);
        assert!(labels([2.1, 4.9], 10).len() > 2, "no round number between them");
    }
}
