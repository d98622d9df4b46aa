//! The types of the operations, and the OpenAPI description that a test generates from them. Servers send the committed
//! `openapi.json`, so that the program needs no schemas.

#[cfg(test)]
pub use description::description;
#[cfg(test)]
pub use schemars::JsonSchema as Described;

/// A type whose schema a test can make.
#[cfg(not(test))]
pub trait Described {}
#[cfg(not(test))]
impl<T> Described for T {}

/// Makes a schema; definitions go to the generator.
#[cfg(test)]
pub type MakeSchema = fn(&mut schemars::SchemaGenerator) -> schemars::Schema;
#[cfg(not(test))]
#[derive(Clone, Copy)]
pub struct MakeSchema;

/// The schema of a type, by reference if it has a name.
#[must_use]
pub const fn schema_of<T: Described>() -> MakeSchema {
    #[cfg(test)]
    {
        |generator| generator.subschema_for::<T>()
    }
    #[cfg(not(test))]
    MakeSchema
}

/// The schema of a type itself, whose properties are the keys of a query.
#[must_use]
pub const fn keys_of<T: Described>() -> MakeSchema {
    #[cfg(test)]
    {
        |generator| T::json_schema(generator)
    }
    #[cfg(not(test))]
    MakeSchema
}

/// The content of a successful response.
#[derive(Clone, Copy)]
#[cfg_attr(not(test), expect(dead_code, reason = "only the description uses it"))]
pub enum Content {
    Json(MakeSchema),
    /// Text of a media type.
    Text(&'static str),
    /// Server-sent events with these data.
    Events(&'static [MakeSchema]),
}

/// What the description says of an operation.
#[derive(Clone, Copy)]
#[cfg_attr(not(test), expect(dead_code, reason = "only the description uses it"))]
pub struct Description {
    pub summary: &'static str,
    /// The name of the value in the path.
    pub segment: Option<&'static str>,
    pub query: MakeSchema,
    pub body: Option<MakeSchema>,
    pub content: Content,
}

#[cfg(test)]
mod description {
    use super::{Content, Description, schema_of};
    use crate::errors::ErrorAnswer;
    use crate::operations::Operation;
    use schemars::SchemaGenerator;
    use schemars::generate::SchemaSettings;
    use serde_json::{Map, Value, json};

    impl Description {
        fn describe(&self, generator: &mut SchemaGenerator) -> Value {
            let mut operation = json!({ "summary": self.summary, "responses": self.responses(generator) });
            let mut parameters: Vec<Value> = Vec::new();
            if let Some(name) = self.segment {
                parameters
                    .push(json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }));
            }
            let keys = (self.query)(generator);
            for (name, schema) in keys.get("properties").and_then(Value::as_object).into_iter().flatten() {
                parameters.push(parameter(name, schema));
            }
            if !parameters.is_empty() {
                operation["parameters"] = parameters.into();
            }
            if let Some(body) = self.body {
                let content = json!({ "application/json": { "schema": body(generator) } });
                operation["requestBody"] = json!({ "required": true, "content": content });
            }
            operation
        }

        fn responses(&self, generator: &mut SchemaGenerator) -> Value {
            let (media, schema) = match self.content {
                Content::Json(schema) => ("application/json", schema(generator).to_value()),
                Content::Text(media) => (media, json!({ "type": "string" })),
                Content::Events(data) => {
                    // Clients find the data of each event among the schemas.
                    data.iter().for_each(|schema| {
                        schema(generator);
                    });
                    ("text/event-stream", json!({ "type": "string" }))
                }
            };
            let error = json!({ "application/json": { "schema": schema_of::<ErrorAnswer>()(generator) } });
            json!({
                "200": { "description": "OK", "content": { media: { "schema": schema } } },
                "default": { "description": "An error", "content": error },
            })
        }
    }

    /// A key of a query; its description moves from the schema to the parameter.
    fn parameter(name: &str, schema: &Value) -> Value {
        let mut schema = schema.clone();
        let fields = schema.as_object_mut();
        let mut parameter = json!({ "name": name, "in": "query", "required": false });
        if let Some(fields) = fields {
            fields.remove("default");
            if let Some(description) = fields.remove("description") {
                parameter["description"] = description;
            }
        }
        parameter["schema"] = schema;
        parameter
    }

    /// The description of all operations as JSON text.
    #[must_use]
    pub fn description<C>(operations: &[Operation<C>]) -> String {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        let mut generator = settings.for_serialize().into_generator();
        let mut paths = Map::new();
        for operation in operations {
            let described = operation.description.describe(&mut generator);
            let path = paths.entry(operation.path).or_insert_with(|| json!({}));
            path[operation.method] = described;
        }
        let all = json!({
            "openapi": "3.1.0",
            "info": {
                "title": "dsq serve",
                "version": "1",
                "description": "Endgame tables and engine of Dou Shou Qi (Jungle chess). See docs/http-api.md.",
                "license": { "name": "MIT OR Apache-2.0" },
            },
            "paths": paths,
            "components": { "schemas": generator.take_definitions(true) },
        });
        format!("{all:#}\n")
    }
}

/// Schemas of types of the library, as they appear in answers.
#[cfg(test)]
pub mod schema {
    /// A win, a draw or a loss.
    #[derive(schemars::JsonSchema)]
    #[schemars(rename = "Wdl", rename_all = "lowercase")]
    #[expect(dead_code, reason = "only its schema is used")]
    pub enum WdlName {
        Win,
        Draw,
        Loss,
    }

    /// A value at a clock.
    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    pub struct ValueAtClock {
        wdl: WdlName,
        /// A `cursed-win` is a win that the limit spoils, a `blessed-loss` a loss that it saves.
        category: Category,
        /// Plies to the next capture or den entry; null for a draw at every clock.
        dtz: Option<u16>,
    }

    /// A result at a clock.
    #[derive(schemars::JsonSchema)]
    #[schemars(rename_all = "kebab-case", inline)]
    #[expect(dead_code, reason = "only its schema is used")]
    pub enum Category {
        Win,
        CursedWin,
        Draw,
        BlessedLoss,
        Loss,
    }

    /// One value for each side.
    #[derive(schemars::JsonSchema)]
    #[schemars(inline)]
    #[expect(dead_code, reason = "only its schema is used")]
    pub struct Sides<T> {
        white: T,
        black: T,
    }

    /// The counts of a material with one side to move.
    #[derive(schemars::JsonSchema)]
    #[schemars(inline)]
    #[expect(dead_code, reason = "only its schema is used")]
    pub struct Counts {
        positions: u64,
        /// Positions without a legal move (stalemate), which the other counts exclude.
        no_move: u64,
        wins: u64,
        losses: u64,
        draws: u64,
        /// The longest distance to the end, in plies.
        longest: u64,
    }
}
