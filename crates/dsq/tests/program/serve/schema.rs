//! Validates JSON against the part of JSON Schema that the OpenAPI description uses. Objects must not have fields that are
//! not described.

use super::client::Answer;
use serde_json::Value;

/// Validates an answer against the description of its path, method and status.
pub fn check_answer(description: &Value, path: &str, method: &str, answer: &Answer) {
    let described = &description["paths"][path][method]["responses"];
    let status = answer.status.to_string();
    assert!(described[&status].is_object(), "{path}: {answer:?}");
    let schema = &described[&status]["content"]["application/json"]["schema"];
    check(description, schema, &answer.json(), path);
}

/// Validates a value against a schema.
pub fn check(description: &Value, schema: &Value, value: &Value, at: &str) {
    if let Err(error) = fits(description, schema, value, at) {
        panic!("{error}");
    }
}

fn fits(description: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap();
        let schema = &description["components"]["schemas"][name];
        assert!(schema.is_object(), "{at}: no schema {reference}");
        return fits(description, schema, value, at);
    }
    if *schema == Value::Bool(true) {
        return Ok(());
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let errors: Vec<String> =
            choices.iter().filter_map(|choice| fits(description, choice, value, at).err()).collect();
        return if errors.len() < choices.len() { Ok(()) } else { Err(errors.join("; ")) };
    }
    let wrong = |what: &str| Err(format!("{at}: {what}: {value} by {schema}"));
    let types: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => return wrong("a schema without a type"),
    };
    let is = |name: &&str| match *name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    if !types.iter().any(is) {
        return wrong("another type");
    }
    if schema["enum"].as_array().is_some_and(|allowed| !allowed.contains(value)) {
        return wrong("none of these");
    }
    if let Some(items) = value.as_array() {
        for (i, item) in items.iter().enumerate() {
            fits(description, &schema["items"], item, &format!("{at}[{i}]"))?;
        }
    }
    if let (Some(fields), Some(described)) = (value.as_object(), schema["properties"].as_object()) {
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        if let Some(missing) = required.into_iter().find(|name| !fields.contains_key(*name)) {
            return wrong(&format!("{missing} is missing"));
        }
        for (name, field) in fields {
            let Some(schema) = described.get(name) else { return wrong(&format!("{name} is not described")) };
            fits(description, schema, field, &format!("{at}.{name}"))?;
        }
    }
    Ok(())
}

/// Checks that the TypeScript types of the page have the names and the properties of the schemas.
pub fn check_types(description: &Value, types: &str) {
    let schemas = description["components"]["schemas"].as_object().unwrap();
    let is_name = |line: &&str| line.starts_with("        ") && line[8..].starts_with(|c: char| c.is_ascii_uppercase());
    let mut declared: Vec<&str> =
        types.lines().filter(is_name).map(|line| line.trim().split(':').next().unwrap()).collect();
    let mut described: Vec<&str> = schemas.keys().map(String::as_str).collect();
    declared.sort_unstable();
    described.sort_unstable();
    assert_eq!(declared, described, "run `npm run api` in crates/explorer/web");
    for (name, schema) in schemas {
        let Some(properties) = schema["properties"].as_object() else { continue };
        let start = types.find(&format!("        {name}: {{\n")).unwrap_or_else(|| panic!("{name} is no object"));
        let body = types[start..].split("\n        };").next().unwrap();
        let property = |line: &str| {
            let line = line.strip_prefix("            ")?;
            let name: String = line.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            (!name.is_empty()).then_some(name)
        };
        let mut declared: Vec<String> = body.lines().filter_map(property).collect();
        let mut described: Vec<&str> = properties.keys().map(String::as_str).collect();
        declared.sort_unstable();
        described.sort_unstable();
        assert_eq!(declared, described, "{name}: run `npm run api` in crates/explorer/web");
    }
}
