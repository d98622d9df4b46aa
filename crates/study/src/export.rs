//! The positions of a material with White to move: as a table of numbers, the columns of the published data set (OpenML
//! 41027), optionally the features, and the winner; or as the text format of the 2013 paper.

use super::features::{FeatureChoice, FeatureSet};
use super::sample::Winner;
use doushouqi::board::{Color, Piece, RuleOptions};
use doushouqi::tablebase::{Material, MaterialTable, Probe, SetError, TableProber, Value, Wdl, position_of};
use std::io::{self, Write};
use thiserror::Error;

/// The format of a table of numbers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DataFormat {
    /// Comma-separated values with the names in the first line.
    Csv,
    /// Weka's format.
    Arff,
    /// Apache Parquet: numbers as INT32 (8-bit integers), the class as a string. Needs the cargo feature `parquet`.
    Parquet,
}

/// Why an export ended early.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// The output cannot be written.
    #[error(transparent)]
    Output(#[from] io::Error),
    /// A table cannot be read.
    #[error(transparent)]
    Tables(#[from] SetError),
    /// Parquet is not built in.
    #[error("this program was built without the feature `parquet`")]
    NoParquet,
    /// An error of the Parquet writer.
    #[cfg(feature = "parquet")]
    #[error("cannot write Parquet: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
}

/// Writes all positions of a material: strength, file and rank of each piece, then the features if `features` is set
/// (no and yes as 0 and 1, named values as their numbers), then `class`, the winner. Returns the number of positions.
///
/// # Errors
/// If `out` cannot be written, or Parquet is not built in.
pub fn write_data<W: Write + Send>(
    table: &MaterialTable,
    options: &RuleOptions,
    features: bool,
    format: DataFormat,
    out: W,
) -> Result<u64, DataError> {
    let material = table.material();
    let set = FeatureSet::new(material, options, FeatureChoice::All);
    let mut names = columns(table.pieces());
    if features {
        names.extend(set.features().iter().map(|feature| feature.name.clone()));
    }
    let mut sink: Box<dyn Sink + '_> = match format {
        DataFormat::Csv | DataFormat::Arff => Box::new(Text::new(out, &names, format, &material.to_string())?),
        DataFormat::Parquet => parquet_sink(out, &names)?,
    };
    let mut count = 0;
    let mut row = Vec::with_capacity(names.len());
    table.each(Color::White, |squares, value| {
        row.clear();
        for (&Piece { animal, .. }, square) in table.pieces().iter().zip(squares) {
            row.extend([animal.index() as i8, square.file() as i8, square.rank() as i8]);
        }
        if features {
            row.extend(set.values(squares));
        }
        count += 1;
        sink.row(&row, Winner::of(value, Color::White, options))
    })?;
    sink.finish()?;
    Ok(count)
}

/// Writes one line for every position of a material with White to move: the FEN, the winner (`w`, `b`, or `d` for a
/// draw), a best move and the plies to the end, with `-` for none. Returns the number of lines.
///
/// # Errors
/// If a table is missing or damaged, or `out` cannot be written.
pub fn write_text(tables: &TableProber, material: Material, mut out: impl Write) -> Result<u64, DataError> {
    let table = tables.load(material)?;
    let Some(table) = MaterialTable::new(tables.set().classes(), &table, material) else { return Ok(0) };
    let mut count = 0;
    table.each(Color::White, |squares, value| {
        let Some(position) = position_of(table.pieces(), squares, Color::White) else {
            return Ok::<(), DataError>(());
        };
        let value = Value::of(value, tables.rules());
        let winner = match value.wdl {
            Wdl::Win => "w",
            Wdl::Draw => "d",
            Wdl::Loss => "b",
        };
        let best = tables.moves(&position)?.and_then(|moves| moves.first().copied());
        let best = best.map_or("-".to_owned(), |(mv, _)| mv.notation(&position));
        let plies = value.dtw.map_or("-".to_owned(), |plies| plies.to_string());
        count += 1;
        Ok(writeln!(out, "{} {winner} {best} {plies}", position.to_fen())?)
    })?;
    out.flush()?;
    Ok(count)
}

/// The names of the published data set's columns: three for each piece, numbered within its side.
fn columns(pieces: &[Piece]) -> Vec<String> {
    let mut names = Vec::new();
    for (i, &Piece { color, .. }) in pieces.iter().enumerate() {
        let number = pieces[..i].iter().filter(|piece| piece.color == color).count();
        let side = color.name();
        names.extend(["strength", "file", "rank"].map(|what| format!("{side}_piece{number}_{what}")));
    }
    names
}

/// A writer of rows of numbers.
trait Sink {
    fn row(&mut self, values: &[i8], winner: Winner) -> Result<(), DataError>;
    fn finish(&mut self) -> Result<(), DataError>;
}

struct Text<W: Write> {
    out: W,
}

impl<W: Write> Text<W> {
    fn new(mut out: W, names: &[String], format: DataFormat, relation: &str) -> io::Result<Text<W>> {
        if format == DataFormat::Csv {
            writeln!(out, "{},class", names.join(","))?;
        } else {
            writeln!(out, "@relation {relation}")?;
            names.iter().try_for_each(|name| writeln!(out, "@attribute {name} numeric"))?;
            writeln!(out, "@attribute class {{w,b,d}}\n@data")?;
        }
        Ok(Text { out })
    }
}

impl<W: Write> Sink for Text<W> {
    fn row(&mut self, values: &[i8], winner: Winner) -> Result<(), DataError> {
        values.iter().try_for_each(|value| write!(self.out, "{value},"))?;
        Ok(writeln!(self.out, "{}", winner.letter())?)
    }

    fn finish(&mut self) -> Result<(), DataError> {
        Ok(self.out.flush()?)
    }
}

#[cfg(not(feature = "parquet"))]
fn parquet_sink<'a, W: Write + Send + 'a>(_: W, _: &[String]) -> Result<Box<dyn Sink + 'a>, DataError> {
    Err(DataError::NoParquet)
}

#[cfg(feature = "parquet")]
fn parquet_sink<'a, W: Write + Send + 'a>(out: W, names: &[String]) -> Result<Box<dyn Sink + 'a>, DataError> {
    Ok(Box::new(columnar::Columns::new(out, names)?))
}

#[cfg(feature = "parquet")]
mod columnar {
    use super::{DataError, Sink, Winner};
    use parquet::basic::{LogicalType, Repetition, Type as Physical};
    use parquet::data_type::{ByteArray, ByteArrayType, Int32Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::types::Type;
    use std::io::Write;
    use std::sync::Arc;

    /// Rows of a row group.
    const GROUP: usize = 1 << 18;

    pub struct Columns<W: Write + Send> {
        writer: SerializedFileWriter<W>,
        values: Vec<Vec<i32>>,
        winners: Vec<ByteArray>,
    }

    impl<W: Write + Send> Columns<W> {
        pub fn new(out: W, names: &[String]) -> Result<Columns<W>, DataError> {
            let number = |name: &String| {
                Type::primitive_type_builder(name, Physical::INT32)
                    .with_repetition(Repetition::REQUIRED)
                    .with_logical_type(Some(LogicalType::integer(8, true)))
                    .build()
                    .map(Arc::new)
            };
            let mut fields = names.iter().map(number).collect::<Result<Vec<_>, _>>()?;
            let class = Type::primitive_type_builder("class", Physical::BYTE_ARRAY)
                .with_repetition(Repetition::REQUIRED)
                .with_logical_type(Some(LogicalType::String))
                .build()?;
            fields.push(Arc::new(class));
            let schema = Arc::new(Type::group_type_builder("positions").with_fields(fields).build()?);
            let writer = SerializedFileWriter::new(out, schema, Arc::new(WriterProperties::builder().build()))?;
            Ok(Columns { writer, values: vec![Vec::new(); names.len()], winners: Vec::new() })
        }

        /// Writes the collected rows as a row group.
        fn group(&mut self) -> Result<(), DataError> {
            if self.winners.is_empty() {
                return Ok(());
            }
            let mut group = self.writer.next_row_group()?;
            let mut columns = self.values.iter();
            while let Some(mut column) = group.next_column()? {
                match columns.next() {
                    Some(values) => column.typed::<Int32Type>().write_batch(values, None, None)?,
                    None => column.typed::<ByteArrayType>().write_batch(&self.winners, None, None)?,
                };
                column.close()?;
            }
            group.close()?;
            self.values.iter_mut().for_each(Vec::clear);
            self.winners.clear();
            Ok(())
        }
    }

    impl<W: Write + Send> Sink for Columns<W> {
        fn row(&mut self, values: &[i8], winner: Winner) -> Result<(), DataError> {
            for (column, &value) in self.values.iter_mut().zip(values) {
                column.push(i32::from(value));
            }
            self.winners.push(ByteArray::from(match winner {
                Winner::White => "w",
                Winner::Draw => "d",
                Winner::Black => "b",
            }));
            if self.winners.len() == GROUP { self.group() } else { Ok(()) }
        }

        fn finish(&mut self) -> Result<(), DataError> {
            self.group()?;
            self.writer.finish()?;
            Ok(())
        }
    }
}
