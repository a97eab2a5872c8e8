//! Spellings of values that have to be found or left out, and metadata of known programs that has to stay.

use keywright_encoding::{base64, hex};

use super::*;

const CARD: &str = "4111111111111111";

/// A name with a letter beyond ASCII, composed.
const NAME: &str = "J\u{FC}rgen M\u{FC}ller";

/// A sign beyond the first plane, and two letters that every text has.
const WIDE: &str = "\u{20BB7}\u{91CE}\u{5BB6}";

fn assert_all(value: &str, spellings: &[String]) {
    for spelling in spellings {
        for text in [
            spelling.clone(),
            format!("the first was {spelling} of them"),
            format!("{{\"min\": \"{spelling}\", \"count\": 3}}"),
            format!("<min count=\"3\">{spelling}</min>"),
        ] {
            assert!(is_left_out(&text, value), "{value:?} in {text:?}");
        }
    }
}

fn owned(spellings: &[&str]) -> Vec<String> {
    spellings.iter().map(|text| (*text).to_owned()).collect()
}

fn each(value: &str, spell: impl Fn(u32) -> String) -> String {
    value.chars().map(|sign| spell(u32::from(sign))).collect()
}

fn bytes_of_units(value: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    value.encode_utf16().flat_map(bytes).collect()
}

#[test]
fn escapes_of_each_language_are_found() {
    for value in [CARD, NAME, WIDE, "line\nend\tand/tail", "4711", "b-c"] {
        let json = serde_json::to_string(value).unwrap();
        let json = json.trim_matches('"');
        let units = |introduction: &str| -> String {
            let units = value.encode_utf16();
            units
                .map(|unit| format!("{introduction}{unit:04x}"))
                .collect()
        };
        let bytes = |introduction: &str| -> String {
            let bytes = value.bytes();
            bytes
                .map(|byte| format!("{introduction}{byte:02X}"))
                .collect()
        };
        let octal: String = value.bytes().map(|byte| format!("\\{byte:03o}")).collect();
        assert_all(
            value,
            &[
                json.to_owned(),
                json.replace('/', "\\/"),
                units("\\u"),
                units("\\\\u"),
                units("%u"),
                bytes("\\x"),
                bytes("%"),
                bytes("%25"),
                bytes("="),
                bytes("=\r\n="),
                octal,
                each(value, |number| format!("\\u{{{number:x}}}")),
                each(value, |number| format!("\\U{number:08x}")),
                each(value, |number| format!("&#{number};")),
                each(value, |number| format!("&#x{number:X};")),
                each(value, |number| format!("&amp;#x{number:X};")),
            ],
        );
    }
    assert_all(
        "AT&T <one>",
        &owned(&[
            "AT&amp;T &lt;one&gt;",
            "AT&ampT &#60one&#62",
            "AT%26T%20%3Cone%3E",
        ]),
    );
    assert_all(
        "4711",
        &owned(&["\\N{DIGIT FOUR}711", "4&seven;11", "\\x4", "\\ud842"]),
    );
}

#[test]
fn encodings_are_found_or_left_out() {
    for value in [CARD, NAME, WIDE, "4711"] {
        let latin: Vec<u8> = value
            .chars()
            .map_while(|sign| u8::try_from(u32::from(sign)).ok())
            .collect();
        let mut forms = vec![
            value.as_bytes().to_vec(),
            bytes_of_units(value, u16::to_le_bytes),
            bytes_of_units(value, u16::to_be_bytes),
        ];
        if latin.len() == value.chars().count() {
            forms.push(latin);
        }
        for form in forms {
            let text = base64::encode(&form);
            let list: Vec<String> = form.iter().map(u8::to_string).collect();
            let signed: Vec<String> = form
                .iter()
                .map(|byte| byte.cast_signed().to_string())
                .collect();
            let octets: Vec<String> = form.iter().map(|byte| format!("{byte:02x}")).collect();
            let prefixed: Vec<String> = form.iter().map(|byte| format!("0x{byte:02X}")).collect();
            assert_all(
                value,
                &[
                    text.clone(),
                    text.trim_end_matches('=').to_owned(),
                    text.replace('+', "-").replace('/', "_"),
                    with_breaks(&text, "\r\n"),
                    with_breaks(&text, "\\n"),
                    base64::encode(text.as_bytes()),
                    hex::encode(&form),
                    hex::encode(&form).to_uppercase(),
                    list.join(", "),
                    list.join("\", \""),
                    signed.join(","),
                    octets.join(" "),
                    octets.join(":"),
                    prefixed.join(", "),
                ],
            );
        }
        let points: Vec<String> = value
            .chars()
            .map(|sign| u32::from(sign).to_string())
            .collect();
        assert_all(value, &[points.join(", ")]);
    }
    assert_all(
        CARD,
        &owned(&[
            "GQYTCMJRGEYTCMJRGEYTCMJRGE======",
            "gqytcmjrgeytcmjrgeytcmjrge",
            "G%+zTF)=YQF)=YQF)=YQ",
        ]),
    );
    assert_all("4711", &owned(&["GQ3TCMI=", "gq3tcmi"]));
}

fn with_breaks(text: &str, end: &str) -> String {
    let lines: Vec<&str> = text
        .as_bytes()
        .chunks(6)
        .map(|part| std::str::from_utf8(part).unwrap())
        .collect();
    lines.join(end)
}

#[test]
fn numbers_of_computers_are_found_or_left_out() {
    for value in [
        4_111_111_111_111_111_u64,
        4_111_111_111_110_000,
        499_070_801,
        471_100,
    ] {
        let mut spellings = vec![
            format!("{value:#x}"),
            format!("{value:#X}"),
            format!("{value:016x}"),
            format!("{value:e}"),
            format!("{value}.0"),
            base64::encode(&value.to_le_bytes()),
            base64::encode(&value.to_be_bytes()),
            hex::encode(&value.to_le_bytes()),
        ];
        if let Ok(small) = u32::try_from(value) {
            spellings.push(base64::encode(&small.to_le_bytes()));
            spellings.push(base64::encode(&small.to_be_bytes()));
        }
        assert_all(&value.to_string(), &spellings);
    }
}

#[test]
fn compressed_values_are_left_out() {
    // Raw deflate, zlib, gzip, zstd, LZ4, Snappy.
    for text in [
        "MzE1tjQ1tzA3MzYzMjSxMAMA",
        "eJwzMTW2NDW3MDczNjMyNLEwAwAcawNV",
        "H4sIAAAAAAACAzMxNbY0NbcwNzM2MzI0sTADABa6fb0QAAAA",
        "KLUv/SAQgQAANDUzOTU3ODc2MzYyMTQ4Ng==",
        "BCJNGGBAghAAAIA0NTM5NTc4NzYzNjIxNDg2AAAAAA==",
        "EDw0NTM5NTc4NzYzNjIxNDg2",
    ] {
        let bytes = base64::decode(text).unwrap();
        let latin: String = bytes.iter().copied().map(char::from).collect();
        let spelled: String = bytes
            .iter()
            .map(|byte| format!("\\u00{byte:02x}"))
            .collect();
        let list: Vec<String> = bytes.iter().map(u8::to_string).collect();
        for spelling in [
            text.to_owned(),
            hex::encode(&bytes),
            latin,
            spelled,
            list.join(", "),
        ] {
            assert!(is_left_out(&spelling, "4539578763621486"), "{spelling:?}");
        }
    }
    // A value of one digit, repeated, as raw deflate.
    assert!(is_left_out("MzFEBQA=", CARD));
}

#[test]
fn groups_and_letters_of_unicode_are_found() {
    let mut spellings = Vec::new();
    for between in [
        " ", "-", ".", ",", "_", "/", "'", "\u{A0}", "\u{2009}", "\u{202F}", "\u{200B}",
        "\u{200D}", "\u{2060}", "\u{FEFF}", "\u{2011}", "\u{2013}", "\u{B7}", " - ", "\", \"",
    ] {
        spellings.push(["4111", "1111", "1111", "1111"].join(between));
    }
    for zero in [
        '\u{FF10}',
        '\u{660}',
        '\u{6F0}',
        '\u{966}',
        '\u{1D7CE}',
        '\u{1D7F6}',
    ] {
        let digit = |number: u32| {
            char::from_u32(u32::from(zero) + number - 48)
                .unwrap()
                .to_string()
        };
        spellings.push(each(CARD, digit));
    }
    assert_all(CARD, &spellings);
    assert_all(
        "+49 30 1234567",
        &owned(&["+49301234567", "49 (30) 123-45-67", "tel:+49-30-1234567"]),
    );
    assert_all("+49301234567", &owned(&["49301234567", "+49 30 1234567"]));
    assert_all(
        NAME,
        &owned(&[
            "Ju\u{308}rgen Mu\u{308}ller",
            "J\u{C3}\u{BC}rgen M\u{C3}\u{BC}ller",
            "J\u{DC}RGEN_M\u{DC}LLER",
        ]),
    );
    assert_all("Ju\u{308}rgen Mu\u{308}ller", &owned(&[NAME]));
    assert_all("Stra\u{DF}e 1", &owned(&["STRASSE 1", "stra\u{DF}e-1"]));
    assert_all(
        "\u{1F34E}\u{1F34F}",
        &owned(&["\u{1F34E}\u{1F34F}", "\\ud83c\\udf4e\\ud83c\\udf4f"]),
    );
}

#[test]
fn short_values_are_found_in_each_spelling() {
    for (value, spellings) in [
        (
            "4711",
            &[
                "4711",
                "47-11",
                "47 11",
                "4,711",
                "\u{FF14}711",
                "4\u{200B}711",
                "4\\u0037\\x311",
            ][..],
        ),
        ("1 23", &["123", "1-23", "1.23", "1 23"]),
        ("+49", &["49", "+49"]),
        (
            "Zo\u{EB}",
            &["ZOE\u{308}", "zo\\u00eb", "Zo=C3=AB", "Zo&#235;"],
        ),
        ("a@b", &["a@b", "A@B", "a&#64;b"]),
        ("p@$!w0", &["p@$!w0", "P@$!W0"]),
    ] {
        assert_all(value, &owned(spellings));
    }
    for (value, other) in [
        ("4711", "47112"),
        ("Bonn", "Bonner"),
        ("12", "1, 2 and 3"),
        ("no", "known"),
    ] {
        assert!(!is_left_out(other, value), "{value} in {other}");
    }
}

#[test]
fn metadata_of_known_programs_stays() {
    for text in INNOCENT {
        for value in [
            CARD,
            NAME,
            WIDE,
            "+49 30 1234567",
            "DE02120300000000202051",
            "4711",
            "1987-06-05",
        ] {
            assert!(!is_left_out(text, value), "{value:?} in {text}");
        }
    }
}

#[test]
fn search_is_linear_and_limited() {
    let layers = |levels: usize| {
        (0..levels).fold("x".to_owned(), |text, _| {
            serde_json::to_string(&text).unwrap()
        })
    };
    assert!(!is_left_out(&layers(4), CARD));
    assert!(is_left_out(&layers(12), CARD));
    assert!(is_left_out(&"word ".repeat(250_000), CARD));
    // Long texts of each sort of part: the value is found, or too much is decoded of them.
    for part in [
        "&amp;%25\\\\=3D ",
        "customers ",
        "1.5e3 a ",
        "a.",
        "\u{FC} ",
        "AB",
    ] {
        let text = part.repeat(150_000 / part.len());
        assert!(is_left_out(&format!("{text} {CARD}"), CARD), "{part}");
    }
    let table: String = (0..2_000)
        .map(|column| {
            format!("{{\"name\":\"customer_{column}\",\"type\":\"string\",\"nullable\":true}},")
        })
        .collect();
    assert!(!is_left_out(&format!("[{table}null]"), CARD));
}

/// As the programs write them.
const INNOCENT: [&str; 24] = [
    // Keys.
    "org.apache.spark.sql.parquet.row.metadata",
    "org.apache.spark.legacyDateTime",
    "parquet.avro.schema",
    "writer.model.name",
    "_PL_CATEGORICAL2",
    "ARROW:extension:metadata",
    "huggingface",
    // Spark.
    r#"{"type":"struct","fields":[{"name":"customer_id","type":"long","nullable":true,"metadata":{}},{"name":
    "address","type":{"type":"struct","fields":[{"name":"street","type":"string","nullable":true,"metadata":
    {"comment":"Street and number, as the customer has written it","__CHAR_VARCHAR_TYPE_STRING":"varchar(40)"}}]},
    "nullable":false,"metadata":{}},{"name":"amount","type":"decimal(38,10)","nullable":true,"metadata":{}},
    {"name":"features","type":{"type":"udt","class":"org.apache.spark.ml.linalg.VectorUDT","pyClass":
    "pyspark.ml.linalg.VectorUDT","sqlType":{"type":"array","elementType":"double","containsNull":false}}}]}"#,
    "3.5.1",
    "America/Los_Angeles",
    // Avro and Iceberg.
    r#"{"type":"record","name":"CustomerAddressChanged","namespace":"com.example.customers.v1","doc":"An event",
    "fields":[{"name":"at","type":["null",{"type":"long","logicalType":"timestamp-micros"}],"default":null}]}"#,
    r#"{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"customer_id","required":false,"type":"long"},
    {"id":2,"name":"ts","required":false,"type":"timestamptz"}]}"#,
    // GeoParquet with PROJJSON and with WKT.
    r#"{"version":"1.1.0","primary_column":"geometry","columns":{"geometry":{"encoding":"WKB","geometry_types":
    ["Polygon","MultiPolygon"],"bbox":[-180.0,-90.0,180.0,83.64513000000001],"covering":{"bbox":{"xmin":["bbox",
    "xmin"],"ymax":["bbox","ymax"]}},"crs":{"$schema":"https://proj.org/schemas/v0.7/projjson.schema.json","type":
    "GeographicCRS","name":"WGS 84","datum_ensemble":{"name":"World Geodetic System 1984 ensemble","members":
    [{"name":"World Geodetic System 1984 (Transit)"},{"name":"World Geodetic System 1984 (G730)"}],"ellipsoid":
    {"name":"WGS 84","semi_major_axis":6378137,"inverse_flattening":298.257223563},"accuracy":"2.0","id":
    {"authority":"EPSG","code":6326}},"coordinate_system":{"subtype":"ellipsoidal","axis":[{"name":
    "Geodetic latitude","abbreviation":"Lat","direction":"north","unit":"degree"}]},"scope":"Horizontal component of 3D system.",
    "area":"World.","bbox":{"south_latitude":-90,"west_longitude":-180,"north_latitude":90,"east_longitude":180},
    "id":{"authority":"EPSG","code":4326}}}}}"#,
    r#"GEOGCRS[\"WGS 84 (CRS84)\",ENSEMBLE[\"World Geodetic System 1984 ensemble\",ELLIPSOID[\"WGS 84\",6378137,
    298.257223563,LENGTHUNIT[\"metre\",1]]],PRIMEM[\"Greenwich\",0,ANGLEUNIT[\"degree\",0.0174532925199433]],
    ID[\"OGC\",\"CRS84\"]]"#,
    // Arrow extension types.
    "arrow.fixed_shape_tensor",
    r#"{"shape":[100,200,500],"dim_names":["C","H","W"],"permutation":[2,0,1]}"#,
    r#"{"crs":"OGC:CRS84","crs_type":"authority_code","edges":"spherical"}"#,
    r#"{"subtype":"int64","closed":"right"}"#,
    "pandas.interval",
    // Polars, an Enum of another column.
    "5;north5;south4;east4;west",
    // Hugging Face.
    r#"{"info":{"features":{"image":{"_type":"Image"},"label":{"names":["0","1","2","3","4","5","6","7","8","9"],
    "_type":"ClassLabel"}}}}"#,
    // DuckDB's pairs and attributes of pandas.
    "2024-01-02T10:00:00.123456+00:00",
    r#"{"source": "nightly", "rows": 1200000, "share": 0.75, "path": "s3://warehouse/customers/year=2024/part-00000.parquet"}"#,
    // R: the class of a table and the names of its columns.
    "A\n3\n263169\n197888\n5\nUTF-8\n531\n1\n531\n1\n254\n1026\n1\n262153\n5\nnames\n16\n1\n262153\n2\nid\n254\n",
];
