from __future__ import annotations

import datetime
import uuid
from typing import (
    Annotated,
    Any,
    List,
    Literal,
    Optional,
    TypedDict,
)
from typing_extensions import NotRequired, TypeAlias

from pydantic import BaseModel, Field, JsonValue

PublicMixedCase: TypeAlias = Literal["A", "b"]

PublicMood: TypeAlias = Literal["sad", "ok", "very happy", "it's \"fine\"", ""]

class PublicAllTypes(BaseModel):
    a_address: Optional[PublicAddress] = Field(alias="a_address")
    a_bit: Optional[PgCatalogBit] = Field(alias="a_bit")
    a_bool: Optional[bool] = Field(alias="a_bool")
    a_box: Optional[PgCatalogBox] = Field(alias="a_box")
    a_bytea: Optional[bytes] = Field(alias="a_bytea")
    a_char: Optional[str] = Field(alias="a_char")
    a_char1: Optional[PgCatalogChar] = Field(alias="a_char1")
    a_cidr: Optional[PgCatalogCidr] = Field(alias="a_cidr")
    a_circle: Optional[PgCatalogCircle] = Field(alias="a_circle")
    a_date: Optional[datetime.date] = Field(alias="a_date")
    a_email: Optional[str] = Field(alias="a_email")
    a_empty: Optional[PublicEmptyEnum] = Field(alias="a_empty")
    a_float4: Optional[float] = Field(alias="a_float4")
    a_float8: Optional[float] = Field(alias="a_float8")
    a_inet: Optional[PgCatalogInet] = Field(alias="a_inet")
    a_int2: Optional[int] = Field(alias="a_int2")
    a_int4: Optional[int] = Field(alias="a_int4")
    a_int4multirange: Optional[str] = Field(alias="a_int4multirange")
    a_int4range: Optional[str] = Field(alias="a_int4range")
    a_int8: Optional[int] = Field(alias="a_int8")
    a_interval: Optional[str] = Field(alias="a_interval")
    a_json: Optional[JsonValue] = Field(alias="a_json")
    a_jsonb: Optional[JsonValue] = Field(alias="a_jsonb")
    a_jsonpath: Optional[PgCatalogJsonpath] = Field(alias="a_jsonpath")
    a_line: Optional[PgCatalogLine] = Field(alias="a_line")
    a_lseg: Optional[PgCatalogLseg] = Field(alias="a_lseg")
    a_macaddr: Optional[PgCatalogMacaddr] = Field(alias="a_macaddr")
    a_macaddr8: Optional[PgCatalogMacaddr8] = Field(alias="a_macaddr8")
    a_mixed: Optional[PublicMixedCase] = Field(alias="a_mixed")
    a_money: Optional[PgCatalogMoney] = Field(alias="a_money")
    a_mood: Optional[PublicMood] = Field(alias="a_mood")
    a_mood_domain: Optional[PublicMood] = Field(alias="a_mood_domain")
    a_name: Optional[PgCatalogName] = Field(alias="a_name")
    a_nested: Optional[PublicNested] = Field(alias="a_nested")
    a_numeric: Optional[float] = Field(alias="a_numeric")
    a_numrange: Optional[str] = Field(alias="a_numrange")
    a_oid: Optional[PgCatalogOid] = Field(alias="a_oid")
    a_path: Optional[PgCatalogPath] = Field(alias="a_path")
    a_pg_lsn: Optional[PgCatalogPgLsn] = Field(alias="a_pg_lsn")
    a_point: Optional[PgCatalogPoint] = Field(alias="a_point")
    a_polygon: Optional[PgCatalogPolygon] = Field(alias="a_polygon")
    a_regclass: Optional[PgCatalogRegclass] = Field(alias="a_regclass")
    a_span: Optional[PublicSpan] = Field(alias="a_span")
    a_tags: Optional[List[str]] = Field(alias="a_tags")
    a_text: Optional[str] = Field(alias="a_text")
    a_time: Optional[datetime.time] = Field(alias="a_time")
    a_timestamp: Optional[datetime.datetime] = Field(alias="a_timestamp")
    a_timestamptz: Optional[datetime.datetime] = Field(alias="a_timestamptz")
    a_timetz: Optional[datetime.time] = Field(alias="a_timetz")
    a_tsquery: Optional[PgCatalogTsquery] = Field(alias="a_tsquery")
    a_tstzrange: Optional[str] = Field(alias="a_tstzrange")
    a_tsvector: Optional[PgCatalogTsvector] = Field(alias="a_tsvector")
    a_uuid: Optional[uuid.UUID] = Field(alias="a_uuid")
    a_varbit: Optional[PgCatalogVarbit] = Field(alias="a_varbit")
    a_varchar: Optional[str] = Field(alias="a_varchar")
    a_xml: Optional[PgCatalogXml] = Field(alias="a_xml")
    by_default: int = Field(alias="by_default")
    id: int = Field(alias="id")
    serial_big: int = Field(alias="serial_big")
    serial_small: int = Field(alias="serial_small")

class PublicAllTypesInsert(TypedDict):
    a_address: NotRequired[Annotated[Optional[PublicAddress], Field(alias="a_address")]]
    a_bit: NotRequired[Annotated[Optional[PgCatalogBit], Field(alias="a_bit")]]
    a_bool: NotRequired[Annotated[Optional[bool], Field(alias="a_bool")]]
    a_box: NotRequired[Annotated[Optional[PgCatalogBox], Field(alias="a_box")]]
    a_bytea: NotRequired[Annotated[Optional[bytes], Field(alias="a_bytea")]]
    a_char: NotRequired[Annotated[Optional[str], Field(alias="a_char")]]
    a_char1: NotRequired[Annotated[Optional[PgCatalogChar], Field(alias="a_char1")]]
    a_cidr: NotRequired[Annotated[Optional[PgCatalogCidr], Field(alias="a_cidr")]]
    a_circle: NotRequired[Annotated[Optional[PgCatalogCircle], Field(alias="a_circle")]]
    a_date: NotRequired[Annotated[Optional[datetime.date], Field(alias="a_date")]]
    a_email: NotRequired[Annotated[Optional[str], Field(alias="a_email")]]
    a_empty: NotRequired[Annotated[Optional[PublicEmptyEnum], Field(alias="a_empty")]]
    a_float4: NotRequired[Annotated[Optional[float], Field(alias="a_float4")]]
    a_float8: NotRequired[Annotated[Optional[float], Field(alias="a_float8")]]
    a_inet: NotRequired[Annotated[Optional[PgCatalogInet], Field(alias="a_inet")]]
    a_int2: NotRequired[Annotated[Optional[int], Field(alias="a_int2")]]
    a_int4: NotRequired[Annotated[Optional[int], Field(alias="a_int4")]]
    a_int4multirange: NotRequired[Annotated[Optional[str], Field(alias="a_int4multirange")]]
    a_int4range: NotRequired[Annotated[Optional[str], Field(alias="a_int4range")]]
    a_int8: NotRequired[Annotated[Optional[int], Field(alias="a_int8")]]
    a_interval: NotRequired[Annotated[Optional[str], Field(alias="a_interval")]]
    a_json: NotRequired[Annotated[Optional[JsonValue], Field(alias="a_json")]]
    a_jsonb: NotRequired[Annotated[Optional[JsonValue], Field(alias="a_jsonb")]]
    a_jsonpath: NotRequired[Annotated[Optional[PgCatalogJsonpath], Field(alias="a_jsonpath")]]
    a_line: NotRequired[Annotated[Optional[PgCatalogLine], Field(alias="a_line")]]
    a_lseg: NotRequired[Annotated[Optional[PgCatalogLseg], Field(alias="a_lseg")]]
    a_macaddr: NotRequired[Annotated[Optional[PgCatalogMacaddr], Field(alias="a_macaddr")]]
    a_macaddr8: NotRequired[Annotated[Optional[PgCatalogMacaddr8], Field(alias="a_macaddr8")]]
    a_mixed: NotRequired[Annotated[Optional[PublicMixedCase], Field(alias="a_mixed")]]
    a_money: NotRequired[Annotated[Optional[PgCatalogMoney], Field(alias="a_money")]]
    a_mood: NotRequired[Annotated[Optional[PublicMood], Field(alias="a_mood")]]
    a_mood_domain: NotRequired[Annotated[Optional[PublicMood], Field(alias="a_mood_domain")]]
    a_name: NotRequired[Annotated[Optional[PgCatalogName], Field(alias="a_name")]]
    a_nested: NotRequired[Annotated[Optional[PublicNested], Field(alias="a_nested")]]
    a_numeric: NotRequired[Annotated[Optional[float], Field(alias="a_numeric")]]
    a_numrange: NotRequired[Annotated[Optional[str], Field(alias="a_numrange")]]
    a_oid: NotRequired[Annotated[Optional[PgCatalogOid], Field(alias="a_oid")]]
    a_path: NotRequired[Annotated[Optional[PgCatalogPath], Field(alias="a_path")]]
    a_pg_lsn: NotRequired[Annotated[Optional[PgCatalogPgLsn], Field(alias="a_pg_lsn")]]
    a_point: NotRequired[Annotated[Optional[PgCatalogPoint], Field(alias="a_point")]]
    a_polygon: NotRequired[Annotated[Optional[PgCatalogPolygon], Field(alias="a_polygon")]]
    a_regclass: NotRequired[Annotated[Optional[PgCatalogRegclass], Field(alias="a_regclass")]]
    a_span: NotRequired[Annotated[Optional[PublicSpan], Field(alias="a_span")]]
    a_tags: NotRequired[Annotated[Optional[List[str]], Field(alias="a_tags")]]
    a_text: NotRequired[Annotated[Optional[str], Field(alias="a_text")]]
    a_time: NotRequired[Annotated[Optional[datetime.time], Field(alias="a_time")]]
    a_timestamp: NotRequired[Annotated[Optional[datetime.datetime], Field(alias="a_timestamp")]]
    a_timestamptz: NotRequired[Annotated[Optional[datetime.datetime], Field(alias="a_timestamptz")]]
    a_timetz: NotRequired[Annotated[Optional[datetime.time], Field(alias="a_timetz")]]
    a_tsquery: NotRequired[Annotated[Optional[PgCatalogTsquery], Field(alias="a_tsquery")]]
    a_tstzrange: NotRequired[Annotated[Optional[str], Field(alias="a_tstzrange")]]
    a_tsvector: NotRequired[Annotated[Optional[PgCatalogTsvector], Field(alias="a_tsvector")]]
    a_uuid: NotRequired[Annotated[Optional[uuid.UUID], Field(alias="a_uuid")]]
    a_varbit: NotRequired[Annotated[Optional[PgCatalogVarbit], Field(alias="a_varbit")]]
    a_varchar: NotRequired[Annotated[Optional[str], Field(alias="a_varchar")]]
    a_xml: NotRequired[Annotated[Optional[PgCatalogXml], Field(alias="a_xml")]]
    by_default: NotRequired[Annotated[int, Field(alias="by_default")]]
    id: NotRequired[Annotated[int, Field(alias="id")]]
    serial_big: NotRequired[Annotated[int, Field(alias="serial_big")]]
    serial_small: NotRequired[Annotated[int, Field(alias="serial_small")]]

class PublicAllTypesUpdate(TypedDict):
    a_address: NotRequired[Annotated[Optional[PublicAddress], Field(alias="a_address")]]
    a_bit: NotRequired[Annotated[Optional[PgCatalogBit], Field(alias="a_bit")]]
    a_bool: NotRequired[Annotated[Optional[bool], Field(alias="a_bool")]]
    a_box: NotRequired[Annotated[Optional[PgCatalogBox], Field(alias="a_box")]]
    a_bytea: NotRequired[Annotated[Optional[bytes], Field(alias="a_bytea")]]
    a_char: NotRequired[Annotated[Optional[str], Field(alias="a_char")]]
    a_char1: NotRequired[Annotated[Optional[PgCatalogChar], Field(alias="a_char1")]]
    a_cidr: NotRequired[Annotated[Optional[PgCatalogCidr], Field(alias="a_cidr")]]
    a_circle: NotRequired[Annotated[Optional[PgCatalogCircle], Field(alias="a_circle")]]
    a_date: NotRequired[Annotated[Optional[datetime.date], Field(alias="a_date")]]
    a_email: NotRequired[Annotated[Optional[str], Field(alias="a_email")]]
    a_empty: NotRequired[Annotated[Optional[PublicEmptyEnum], Field(alias="a_empty")]]
    a_float4: NotRequired[Annotated[Optional[float], Field(alias="a_float4")]]
    a_float8: NotRequired[Annotated[Optional[float], Field(alias="a_float8")]]
    a_inet: NotRequired[Annotated[Optional[PgCatalogInet], Field(alias="a_inet")]]
    a_int2: NotRequired[Annotated[Optional[int], Field(alias="a_int2")]]
    a_int4: NotRequired[Annotated[Optional[int], Field(alias="a_int4")]]
    a_int4multirange: NotRequired[Annotated[Optional[str], Field(alias="a_int4multirange")]]
    a_int4range: NotRequired[Annotated[Optional[str], Field(alias="a_int4range")]]
    a_int8: NotRequired[Annotated[Optional[int], Field(alias="a_int8")]]
    a_interval: NotRequired[Annotated[Optional[str], Field(alias="a_interval")]]
    a_json: NotRequired[Annotated[Optional[JsonValue], Field(alias="a_json")]]
    a_jsonb: NotRequired[Annotated[Optional[JsonValue], Field(alias="a_jsonb")]]
    a_jsonpath: NotRequired[Annotated[Optional[PgCatalogJsonpath], Field(alias="a_jsonpath")]]
    a_line: NotRequired[Annotated[Optional[PgCatalogLine], Field(alias="a_line")]]
    a_lseg: NotRequired[Annotated[Optional[PgCatalogLseg], Field(alias="a_lseg")]]
    a_macaddr: NotRequired[Annotated[Optional[PgCatalogMacaddr], Field(alias="a_macaddr")]]
    a_macaddr8: NotRequired[Annotated[Optional[PgCatalogMacaddr8], Field(alias="a_macaddr8")]]
    a_mixed: NotRequired[Annotated[Optional[PublicMixedCase], Field(alias="a_mixed")]]
    a_money: NotRequired[Annotated[Optional[PgCatalogMoney], Field(alias="a_money")]]
    a_mood: NotRequired[Annotated[Optional[PublicMood], Field(alias="a_mood")]]
    a_mood_domain: NotRequired[Annotated[Optional[PublicMood], Field(alias="a_mood_domain")]]
    a_name: NotRequired[Annotated[Optional[PgCatalogName], Field(alias="a_name")]]
    a_nested: NotRequired[Annotated[Optional[PublicNested], Field(alias="a_nested")]]
    a_numeric: NotRequired[Annotated[Optional[float], Field(alias="a_numeric")]]
    a_numrange: NotRequired[Annotated[Optional[str], Field(alias="a_numrange")]]
    a_oid: NotRequired[Annotated[Optional[PgCatalogOid], Field(alias="a_oid")]]
    a_path: NotRequired[Annotated[Optional[PgCatalogPath], Field(alias="a_path")]]
    a_pg_lsn: NotRequired[Annotated[Optional[PgCatalogPgLsn], Field(alias="a_pg_lsn")]]
    a_point: NotRequired[Annotated[Optional[PgCatalogPoint], Field(alias="a_point")]]
    a_polygon: NotRequired[Annotated[Optional[PgCatalogPolygon], Field(alias="a_polygon")]]
    a_regclass: NotRequired[Annotated[Optional[PgCatalogRegclass], Field(alias="a_regclass")]]
    a_span: NotRequired[Annotated[Optional[PublicSpan], Field(alias="a_span")]]
    a_tags: NotRequired[Annotated[Optional[List[str]], Field(alias="a_tags")]]
    a_text: NotRequired[Annotated[Optional[str], Field(alias="a_text")]]
    a_time: NotRequired[Annotated[Optional[datetime.time], Field(alias="a_time")]]
    a_timestamp: NotRequired[Annotated[Optional[datetime.datetime], Field(alias="a_timestamp")]]
    a_timestamptz: NotRequired[Annotated[Optional[datetime.datetime], Field(alias="a_timestamptz")]]
    a_timetz: NotRequired[Annotated[Optional[datetime.time], Field(alias="a_timetz")]]
    a_tsquery: NotRequired[Annotated[Optional[PgCatalogTsquery], Field(alias="a_tsquery")]]
    a_tstzrange: NotRequired[Annotated[Optional[str], Field(alias="a_tstzrange")]]
    a_tsvector: NotRequired[Annotated[Optional[PgCatalogTsvector], Field(alias="a_tsvector")]]
    a_uuid: NotRequired[Annotated[Optional[uuid.UUID], Field(alias="a_uuid")]]
    a_varbit: NotRequired[Annotated[Optional[PgCatalogVarbit], Field(alias="a_varbit")]]
    a_varchar: NotRequired[Annotated[Optional[str], Field(alias="a_varchar")]]
    a_xml: NotRequired[Annotated[Optional[PgCatalogXml], Field(alias="a_xml")]]
    by_default: NotRequired[Annotated[int, Field(alias="by_default")]]
    id: NotRequired[Annotated[int, Field(alias="id")]]
    serial_big: NotRequired[Annotated[int, Field(alias="serial_big")]]
    serial_small: NotRequired[Annotated[int, Field(alias="serial_small")]]

class PublicArrays(BaseModel):
    addresses: Optional[List[PublicAddress]] = Field(alias="addresses")
    bools: Optional[List[bool]] = Field(alias="bools")
    bytes: Optional[List[bytes]] = Field(alias="bytes")
    emails: Optional[List[PublicEmail]] = Field(alias="emails")
    id: uuid.UUID = Field(alias="id")
    ints: List[int] = Field(alias="ints")
    ints2: Optional[List[int]] = Field(alias="ints2")
    jsons: List[JsonValue] = Field(alias="jsons")
    moods: List[PublicMood] = Field(alias="moods")
    ranges: Optional[List[str]] = Field(alias="ranges")
    texts: Optional[List[str]] = Field(alias="texts")
    uuids: Optional[List[uuid.UUID]] = Field(alias="uuids")

class PublicArraysInsert(TypedDict):
    addresses: NotRequired[Annotated[Optional[List[PublicAddress]], Field(alias="addresses")]]
    bools: NotRequired[Annotated[Optional[List[bool]], Field(alias="bools")]]
    bytes: NotRequired[Annotated[Optional[List[bytes]], Field(alias="bytes")]]
    emails: NotRequired[Annotated[Optional[List[PublicEmail]], Field(alias="emails")]]
    id: NotRequired[Annotated[uuid.UUID, Field(alias="id")]]
    ints: Annotated[List[int], Field(alias="ints")]
    ints2: NotRequired[Annotated[Optional[List[int]], Field(alias="ints2")]]
    jsons: Annotated[List[JsonValue], Field(alias="jsons")]
    moods: NotRequired[Annotated[List[PublicMood], Field(alias="moods")]]
    ranges: NotRequired[Annotated[Optional[List[str]], Field(alias="ranges")]]
    texts: NotRequired[Annotated[Optional[List[str]], Field(alias="texts")]]
    uuids: NotRequired[Annotated[Optional[List[uuid.UUID]], Field(alias="uuids")]]

class PublicArraysUpdate(TypedDict):
    addresses: NotRequired[Annotated[Optional[List[PublicAddress]], Field(alias="addresses")]]
    bools: NotRequired[Annotated[Optional[List[bool]], Field(alias="bools")]]
    bytes: NotRequired[Annotated[Optional[List[bytes]], Field(alias="bytes")]]
    emails: NotRequired[Annotated[Optional[List[PublicEmail]], Field(alias="emails")]]
    id: NotRequired[Annotated[uuid.UUID, Field(alias="id")]]
    ints: NotRequired[Annotated[List[int], Field(alias="ints")]]
    ints2: NotRequired[Annotated[Optional[List[int]], Field(alias="ints2")]]
    jsons: NotRequired[Annotated[List[JsonValue], Field(alias="jsons")]]
    moods: NotRequired[Annotated[List[PublicMood], Field(alias="moods")]]
    ranges: NotRequired[Annotated[Optional[List[str]], Field(alias="ranges")]]
    texts: NotRequired[Annotated[Optional[List[str]], Field(alias="texts")]]
    uuids: NotRequired[Annotated[Optional[List[uuid.UUID]], Field(alias="uuids")]]

class PublicChild(BaseModel):
    extra: Optional[int] = Field(alias="extra")
    id: int = Field(alias="id")
    name: str = Field(alias="name")

class PublicChildInsert(TypedDict):
    extra: NotRequired[Annotated[Optional[int], Field(alias="extra")]]
    id: Annotated[int, Field(alias="id")]
    name: Annotated[str, Field(alias="name")]

class PublicChildUpdate(TypedDict):
    extra: NotRequired[Annotated[Optional[int], Field(alias="extra")]]
    id: NotRequired[Annotated[int, Field(alias="id")]]
    name: NotRequired[Annotated[str, Field(alias="name")]]

class PublicCommentsOnly(BaseModel):
    id: Optional[int] = Field(alias="id")
    note: Optional[str] = Field(alias="note")

class PublicCommentsOnlyInsert(TypedDict):
    id: NotRequired[Annotated[Optional[int], Field(alias="id")]]
    note: NotRequired[Annotated[Optional[str], Field(alias="note")]]

class PublicCommentsOnlyUpdate(TypedDict):
    id: NotRequired[Annotated[Optional[int], Field(alias="id")]]
    note: NotRequired[Annotated[Optional[str], Field(alias="note")]]

class PublicNoColumns(BaseModel):
    pass

class PublicNoColumnsInsert(TypedDict):
    pass

class PublicNoColumnsUpdate(TypedDict):
    pass

class PublicNullability(BaseModel):
    generated_required: int = Field(alias="generated_required")
    generated_stored: Optional[str] = Field(alias="generated_stored")
    identity_always: int = Field(alias="identity_always")
    optional_default: Optional[str] = Field(alias="optional_default")
    optional_plain: Optional[str] = Field(alias="optional_plain")
    pk_part_a: int = Field(alias="pk_part_a")
    pk_part_b: str = Field(alias="pk_part_b")
    required_default: str = Field(alias="required_default")
    required_domain: PublicEmail = Field(alias="required_domain")
    required_json: JsonValue = Field(alias="required_json")
    required_plain: str = Field(alias="required_plain")
    required_unknown: PgCatalogTsvector = Field(alias="required_unknown")

class PublicNullabilityInsert(TypedDict):
    generated_required: NotRequired[Annotated[int, Field(alias="generated_required")]]
    generated_stored: NotRequired[Annotated[Optional[str], Field(alias="generated_stored")]]
    identity_always: NotRequired[Annotated[int, Field(alias="identity_always")]]
    optional_default: NotRequired[Annotated[Optional[str], Field(alias="optional_default")]]
    optional_plain: NotRequired[Annotated[Optional[str], Field(alias="optional_plain")]]
    pk_part_a: Annotated[int, Field(alias="pk_part_a")]
    pk_part_b: Annotated[str, Field(alias="pk_part_b")]
    required_default: NotRequired[Annotated[str, Field(alias="required_default")]]
    required_domain: Annotated[PublicEmail, Field(alias="required_domain")]
    required_json: Annotated[JsonValue, Field(alias="required_json")]
    required_plain: Annotated[str, Field(alias="required_plain")]
    required_unknown: Annotated[PgCatalogTsvector, Field(alias="required_unknown")]

class PublicNullabilityUpdate(TypedDict):
    generated_required: NotRequired[Annotated[int, Field(alias="generated_required")]]
    generated_stored: NotRequired[Annotated[Optional[str], Field(alias="generated_stored")]]
    identity_always: NotRequired[Annotated[int, Field(alias="identity_always")]]
    optional_default: NotRequired[Annotated[Optional[str], Field(alias="optional_default")]]
    optional_plain: NotRequired[Annotated[Optional[str], Field(alias="optional_plain")]]
    pk_part_a: NotRequired[Annotated[int, Field(alias="pk_part_a")]]
    pk_part_b: NotRequired[Annotated[str, Field(alias="pk_part_b")]]
    required_default: NotRequired[Annotated[str, Field(alias="required_default")]]
    required_domain: NotRequired[Annotated[PublicEmail, Field(alias="required_domain")]]
    required_json: NotRequired[Annotated[JsonValue, Field(alias="required_json")]]
    required_plain: NotRequired[Annotated[str, Field(alias="required_plain")]]
    required_unknown: NotRequired[Annotated[PgCatalogTsvector, Field(alias="required_unknown")]]

class PublicParent(BaseModel):
    id: int = Field(alias="id")
    name: str = Field(alias="name")

class PublicParentInsert(TypedDict):
    id: Annotated[int, Field(alias="id")]
    name: Annotated[str, Field(alias="name")]

class PublicParentUpdate(TypedDict):
    id: NotRequired[Annotated[int, Field(alias="id")]]
    name: NotRequired[Annotated[str, Field(alias="name")]]

class PublicParted(BaseModel):
    id: int = Field(alias="id")
    region: str = Field(alias="region")

class PublicPartedInsert(TypedDict):
    id: Annotated[int, Field(alias="id")]
    region: Annotated[str, Field(alias="region")]

class PublicPartedUpdate(TypedDict):
    id: NotRequired[Annotated[int, Field(alias="id")]]
    region: NotRequired[Annotated[str, Field(alias="region")]]

class PublicPartedEu(BaseModel):
    id: int = Field(alias="id")
    region: str = Field(alias="region")

class PublicPartedEuInsert(TypedDict):
    id: Annotated[int, Field(alias="id")]
    region: Annotated[str, Field(alias="region")]

class PublicPartedEuUpdate(TypedDict):
    id: NotRequired[Annotated[int, Field(alias="id")]]
    region: NotRequired[Annotated[str, Field(alias="region")]]

class PublicUnloggedOne(BaseModel):
    id: int = Field(alias="id")

class PublicUnloggedOneInsert(TypedDict):
    id: Annotated[int, Field(alias="id")]

class PublicUnloggedOneUpdate(TypedDict):
    id: NotRequired[Annotated[int, Field(alias="id")]]

class PublicWeirdNamesSuch(BaseModel):
    _proto_: Optional[str] = Field(alias="__proto__")
    _under: Optional[str] = Field(alias="_under")
    _dollar: Optional[str] = Field(alias="$dollar")
    1st: Optional[int] = Field(alias="1st")
    apostrophe_s: Optional[str] = Field(alias="apostrophe's")
    back_slash: Optional[str] = Field(alias="back\\slash")
    class: Optional[str] = Field(alias="class")
    constructor: Optional[str] = Field(alias="constructor")
    function: Optional[str] = Field(alias="function")
    id: int = Field(alias="id")
    null: Optional[str] = Field(alias="null")
    quote_d: Optional[str] = Field(alias="quote\"d")
    select: Optional[str] = Field(alias="select")
    _n_c_d_: Optional[str] = Field(alias="ünïcødé")
    upper: Optional[str] = Field(alias="UPPER")
    with_space: str = Field(alias="with space")
    with_dash: Optional[str] = Field(alias="with-dash")
    with_dot: Optional[str] = Field(alias="with.dot")

class PublicWeirdNamesSuchInsert(TypedDict):
    _proto_: NotRequired[Annotated[Optional[str], Field(alias="__proto__")]]
    _under: NotRequired[Annotated[Optional[str], Field(alias="_under")]]
    _dollar: NotRequired[Annotated[Optional[str], Field(alias="$dollar")]]
    1st: NotRequired[Annotated[Optional[int], Field(alias="1st")]]
    apostrophe_s: NotRequired[Annotated[Optional[str], Field(alias="apostrophe's")]]
    back_slash: NotRequired[Annotated[Optional[str], Field(alias="back\\slash")]]
    class: NotRequired[Annotated[Optional[str], Field(alias="class")]]
    constructor: NotRequired[Annotated[Optional[str], Field(alias="constructor")]]
    function: NotRequired[Annotated[Optional[str], Field(alias="function")]]
    id: Annotated[int, Field(alias="id")]
    null: NotRequired[Annotated[Optional[str], Field(alias="null")]]
    quote_d: NotRequired[Annotated[Optional[str], Field(alias="quote\"d")]]
    select: NotRequired[Annotated[Optional[str], Field(alias="select")]]
    _n_c_d_: NotRequired[Annotated[Optional[str], Field(alias="ünïcødé")]]
    upper: NotRequired[Annotated[Optional[str], Field(alias="UPPER")]]
    with_space: Annotated[str, Field(alias="with space")]
    with_dash: NotRequired[Annotated[Optional[str], Field(alias="with-dash")]]
    with_dot: NotRequired[Annotated[Optional[str], Field(alias="with.dot")]]

class PublicWeirdNamesSuchUpdate(TypedDict):
    _proto_: NotRequired[Annotated[Optional[str], Field(alias="__proto__")]]
    _under: NotRequired[Annotated[Optional[str], Field(alias="_under")]]
    _dollar: NotRequired[Annotated[Optional[str], Field(alias="$dollar")]]
    1st: NotRequired[Annotated[Optional[int], Field(alias="1st")]]
    apostrophe_s: NotRequired[Annotated[Optional[str], Field(alias="apostrophe's")]]
    back_slash: NotRequired[Annotated[Optional[str], Field(alias="back\\slash")]]
    class: NotRequired[Annotated[Optional[str], Field(alias="class")]]
    constructor: NotRequired[Annotated[Optional[str], Field(alias="constructor")]]
    function: NotRequired[Annotated[Optional[str], Field(alias="function")]]
    id: NotRequired[Annotated[int, Field(alias="id")]]
    null: NotRequired[Annotated[Optional[str], Field(alias="null")]]
    quote_d: NotRequired[Annotated[Optional[str], Field(alias="quote\"d")]]
    select: NotRequired[Annotated[Optional[str], Field(alias="select")]]
    _n_c_d_: NotRequired[Annotated[Optional[str], Field(alias="ünïcødé")]]
    upper: NotRequired[Annotated[Optional[str], Field(alias="UPPER")]]
    with_space: NotRequired[Annotated[str, Field(alias="with space")]]
    with_dash: NotRequired[Annotated[Optional[str], Field(alias="with-dash")]]
    with_dot: NotRequired[Annotated[Optional[str], Field(alias="with.dot")]]





class PublicAddress(BaseModel):
    street: Optional[str] = Field(alias="street")
    postal_code: Optional[str] = Field(alias="postal code")
    lines: Optional[List[str]] = Field(alias="lines")
    mood: Optional[PublicMood] = Field(alias="mood")
    since: Optional[datetime.date] = Field(alias="since")

class PublicNested(BaseModel):
    home: Optional[PublicAddress] = Field(alias="home")
    others: Optional[List[PublicAddress]] = Field(alias="others")
    at: Optional[PgCatalogPoint] = Field(alias="at")
