import Foundation
import Supabase

internal enum PublicSchema {
  internal enum MixedCase: String, Codable, Hashable, Sendable {
    case a = "A"
    case b = "b"
  }
  internal enum Mood: String, Codable, Hashable, Sendable {
    case sad = "sad"
    case ok = "ok"
    case veryHappy = "very happy"
    case itSFine = "it's \"fine\""
    case  = ""
  }
  internal struct AllTypesSelect: Codable, Hashable, Sendable, Identifiable {
    internal var id: Int32 { byDefault }
    internal let aAddress: AddressSelect?
    internal let aBit: BitSelect?
    internal let aBool: Bool?
    internal let aBox: BoxSelect?
    internal let aBytea: String?
    internal let aChar: String?
    internal let aChar1: CharSelect?
    internal let aCidr: CidrSelect?
    internal let aCircle: CircleSelect?
    internal let aDate: String?
    internal let aEmail: String?
    internal let aEmpty: EmptyEnumSelect?
    internal let aFloat4: Float?
    internal let aFloat8: Double?
    internal let aInet: InetSelect?
    internal let aInt2: Int16?
    internal let aInt4: Int32?
    internal let aInt4multirange: Int4multirangeSelect?
    internal let aInt4range: Int4rangeSelect?
    internal let aInt8: Int64?
    internal let aInterval: String?
    internal let aJson: AnyJSON?
    internal let aJsonb: AnyJSON?
    internal let aJsonpath: JsonpathSelect?
    internal let aLine: LineSelect?
    internal let aLseg: LsegSelect?
    internal let aMacaddr: MacaddrSelect?
    internal let aMacaddr8: Macaddr8Select?
    internal let aMixed: MixedCase?
    internal let aMoney: MoneySelect?
    internal let aMood: Mood?
    internal let aMoodDomain: Mood?
    internal let aName: NameSelect?
    internal let aNested: NestedSelect?
    internal let aNumeric: Decimal?
    internal let aNumrange: NumrangeSelect?
    internal let aOid: OidSelect?
    internal let aPath: PathSelect?
    internal let aPgLsn: PgLsnSelect?
    internal let aPoint: PointSelect?
    internal let aPolygon: PolygonSelect?
    internal let aRegclass: RegclassSelect?
    internal let aSpan: SpanSelect?
    internal let aTags: [String]?
    internal let aText: String?
    internal let aTime: String?
    internal let aTimestamp: String?
    internal let aTimestamptz: String?
    internal let aTimetz: String?
    internal let aTsquery: TsquerySelect?
    internal let aTstzrange: TstzrangeSelect?
    internal let aTsvector: TsvectorSelect?
    internal let aUuid: UUID?
    internal let aVarbit: VarbitSelect?
    internal let aVarchar: String?
    internal let aXml: XmlSelect?
    internal let byDefault: Int32
    internal let id: Int64
    internal let serialBig: Int64
    internal let serialSmall: Int16
    internal enum CodingKeys: String, CodingKey {
      case aAddress = "a_address"
      case aBit = "a_bit"
      case aBool = "a_bool"
      case aBox = "a_box"
      case aBytea = "a_bytea"
      case aChar = "a_char"
      case aChar1 = "a_char1"
      case aCidr = "a_cidr"
      case aCircle = "a_circle"
      case aDate = "a_date"
      case aEmail = "a_email"
      case aEmpty = "a_empty"
      case aFloat4 = "a_float4"
      case aFloat8 = "a_float8"
      case aInet = "a_inet"
      case aInt2 = "a_int2"
      case aInt4 = "a_int4"
      case aInt4multirange = "a_int4multirange"
      case aInt4range = "a_int4range"
      case aInt8 = "a_int8"
      case aInterval = "a_interval"
      case aJson = "a_json"
      case aJsonb = "a_jsonb"
      case aJsonpath = "a_jsonpath"
      case aLine = "a_line"
      case aLseg = "a_lseg"
      case aMacaddr = "a_macaddr"
      case aMacaddr8 = "a_macaddr8"
      case aMixed = "a_mixed"
      case aMoney = "a_money"
      case aMood = "a_mood"
      case aMoodDomain = "a_mood_domain"
      case aName = "a_name"
      case aNested = "a_nested"
      case aNumeric = "a_numeric"
      case aNumrange = "a_numrange"
      case aOid = "a_oid"
      case aPath = "a_path"
      case aPgLsn = "a_pg_lsn"
      case aPoint = "a_point"
      case aPolygon = "a_polygon"
      case aRegclass = "a_regclass"
      case aSpan = "a_span"
      case aTags = "a_tags"
      case aText = "a_text"
      case aTime = "a_time"
      case aTimestamp = "a_timestamp"
      case aTimestamptz = "a_timestamptz"
      case aTimetz = "a_timetz"
      case aTsquery = "a_tsquery"
      case aTstzrange = "a_tstzrange"
      case aTsvector = "a_tsvector"
      case aUuid = "a_uuid"
      case aVarbit = "a_varbit"
      case aVarchar = "a_varchar"
      case aXml = "a_xml"
      case byDefault = "by_default"
      case id = "id"
      case serialBig = "serial_big"
      case serialSmall = "serial_small"
    }
  }
  internal struct AllTypesInsert: Codable, Hashable, Sendable, Identifiable {
    internal var id: Int32? { byDefault }
    internal let aAddress: AddressSelect?
    internal let aBit: BitSelect?
    internal let aBool: Bool?
    internal let aBox: BoxSelect?
    internal let aBytea: String?
    internal let aChar: String?
    internal let aChar1: CharSelect?
    internal let aCidr: CidrSelect?
    internal let aCircle: CircleSelect?
    internal let aDate: String?
    internal let aEmail: String?
    internal let aEmpty: EmptyEnumSelect?
    internal let aFloat4: Float?
    internal let aFloat8: Double?
    internal let aInet: InetSelect?
    internal let aInt2: Int16?
    internal let aInt4: Int32?
    internal let aInt4multirange: Int4multirangeSelect?
    internal let aInt4range: Int4rangeSelect?
    internal let aInt8: Int64?
    internal let aInterval: String?
    internal let aJson: AnyJSON?
    internal let aJsonb: AnyJSON?
    internal let aJsonpath: JsonpathSelect?
    internal let aLine: LineSelect?
    internal let aLseg: LsegSelect?
    internal let aMacaddr: MacaddrSelect?
    internal let aMacaddr8: Macaddr8Select?
    internal let aMixed: MixedCase?
    internal let aMoney: MoneySelect?
    internal let aMood: Mood?
    internal let aMoodDomain: Mood?
    internal let aName: NameSelect?
    internal let aNested: NestedSelect?
    internal let aNumeric: Decimal?
    internal let aNumrange: NumrangeSelect?
    internal let aOid: OidSelect?
    internal let aPath: PathSelect?
    internal let aPgLsn: PgLsnSelect?
    internal let aPoint: PointSelect?
    internal let aPolygon: PolygonSelect?
    internal let aRegclass: RegclassSelect?
    internal let aSpan: SpanSelect?
    internal let aTags: [String]?
    internal let aText: String?
    internal let aTime: String?
    internal let aTimestamp: String?
    internal let aTimestamptz: String?
    internal let aTimetz: String?
    internal let aTsquery: TsquerySelect?
    internal let aTstzrange: TstzrangeSelect?
    internal let aTsvector: TsvectorSelect?
    internal let aUuid: UUID?
    internal let aVarbit: VarbitSelect?
    internal let aVarchar: String?
    internal let aXml: XmlSelect?
    internal let byDefault: Int32?
    internal let id: Int64?
    internal let serialBig: Int64?
    internal let serialSmall: Int16?
    internal enum CodingKeys: String, CodingKey {
      case aAddress = "a_address"
      case aBit = "a_bit"
      case aBool = "a_bool"
      case aBox = "a_box"
      case aBytea = "a_bytea"
      case aChar = "a_char"
      case aChar1 = "a_char1"
      case aCidr = "a_cidr"
      case aCircle = "a_circle"
      case aDate = "a_date"
      case aEmail = "a_email"
      case aEmpty = "a_empty"
      case aFloat4 = "a_float4"
      case aFloat8 = "a_float8"
      case aInet = "a_inet"
      case aInt2 = "a_int2"
      case aInt4 = "a_int4"
      case aInt4multirange = "a_int4multirange"
      case aInt4range = "a_int4range"
      case aInt8 = "a_int8"
      case aInterval = "a_interval"
      case aJson = "a_json"
      case aJsonb = "a_jsonb"
      case aJsonpath = "a_jsonpath"
      case aLine = "a_line"
      case aLseg = "a_lseg"
      case aMacaddr = "a_macaddr"
      case aMacaddr8 = "a_macaddr8"
      case aMixed = "a_mixed"
      case aMoney = "a_money"
      case aMood = "a_mood"
      case aMoodDomain = "a_mood_domain"
      case aName = "a_name"
      case aNested = "a_nested"
      case aNumeric = "a_numeric"
      case aNumrange = "a_numrange"
      case aOid = "a_oid"
      case aPath = "a_path"
      case aPgLsn = "a_pg_lsn"
      case aPoint = "a_point"
      case aPolygon = "a_polygon"
      case aRegclass = "a_regclass"
      case aSpan = "a_span"
      case aTags = "a_tags"
      case aText = "a_text"
      case aTime = "a_time"
      case aTimestamp = "a_timestamp"
      case aTimestamptz = "a_timestamptz"
      case aTimetz = "a_timetz"
      case aTsquery = "a_tsquery"
      case aTstzrange = "a_tstzrange"
      case aTsvector = "a_tsvector"
      case aUuid = "a_uuid"
      case aVarbit = "a_varbit"
      case aVarchar = "a_varchar"
      case aXml = "a_xml"
      case byDefault = "by_default"
      case id = "id"
      case serialBig = "serial_big"
      case serialSmall = "serial_small"
    }
  }
  internal struct AllTypesUpdate: Codable, Hashable, Sendable, Identifiable {
    internal var id: Int32? { byDefault }
    internal let aAddress: AddressSelect?
    internal let aBit: BitSelect?
    internal let aBool: Bool?
    internal let aBox: BoxSelect?
    internal let aBytea: String?
    internal let aChar: String?
    internal let aChar1: CharSelect?
    internal let aCidr: CidrSelect?
    internal let aCircle: CircleSelect?
    internal let aDate: String?
    internal let aEmail: String?
    internal let aEmpty: EmptyEnumSelect?
    internal let aFloat4: Float?
    internal let aFloat8: Double?
    internal let aInet: InetSelect?
    internal let aInt2: Int16?
    internal let aInt4: Int32?
    internal let aInt4multirange: Int4multirangeSelect?
    internal let aInt4range: Int4rangeSelect?
    internal let aInt8: Int64?
    internal let aInterval: String?
    internal let aJson: AnyJSON?
    internal let aJsonb: AnyJSON?
    internal let aJsonpath: JsonpathSelect?
    internal let aLine: LineSelect?
    internal let aLseg: LsegSelect?
    internal let aMacaddr: MacaddrSelect?
    internal let aMacaddr8: Macaddr8Select?
    internal let aMixed: MixedCase?
    internal let aMoney: MoneySelect?
    internal let aMood: Mood?
    internal let aMoodDomain: Mood?
    internal let aName: NameSelect?
    internal let aNested: NestedSelect?
    internal let aNumeric: Decimal?
    internal let aNumrange: NumrangeSelect?
    internal let aOid: OidSelect?
    internal let aPath: PathSelect?
    internal let aPgLsn: PgLsnSelect?
    internal let aPoint: PointSelect?
    internal let aPolygon: PolygonSelect?
    internal let aRegclass: RegclassSelect?
    internal let aSpan: SpanSelect?
    internal let aTags: [String]?
    internal let aText: String?
    internal let aTime: String?
    internal let aTimestamp: String?
    internal let aTimestamptz: String?
    internal let aTimetz: String?
    internal let aTsquery: TsquerySelect?
    internal let aTstzrange: TstzrangeSelect?
    internal let aTsvector: TsvectorSelect?
    internal let aUuid: UUID?
    internal let aVarbit: VarbitSelect?
    internal let aVarchar: String?
    internal let aXml: XmlSelect?
    internal let byDefault: Int32?
    internal let id: Int64?
    internal let serialBig: Int64?
    internal let serialSmall: Int16?
    internal enum CodingKeys: String, CodingKey {
      case aAddress = "a_address"
      case aBit = "a_bit"
      case aBool = "a_bool"
      case aBox = "a_box"
      case aBytea = "a_bytea"
      case aChar = "a_char"
      case aChar1 = "a_char1"
      case aCidr = "a_cidr"
      case aCircle = "a_circle"
      case aDate = "a_date"
      case aEmail = "a_email"
      case aEmpty = "a_empty"
      case aFloat4 = "a_float4"
      case aFloat8 = "a_float8"
      case aInet = "a_inet"
      case aInt2 = "a_int2"
      case aInt4 = "a_int4"
      case aInt4multirange = "a_int4multirange"
      case aInt4range = "a_int4range"
      case aInt8 = "a_int8"
      case aInterval = "a_interval"
      case aJson = "a_json"
      case aJsonb = "a_jsonb"
      case aJsonpath = "a_jsonpath"
      case aLine = "a_line"
      case aLseg = "a_lseg"
      case aMacaddr = "a_macaddr"
      case aMacaddr8 = "a_macaddr8"
      case aMixed = "a_mixed"
      case aMoney = "a_money"
      case aMood = "a_mood"
      case aMoodDomain = "a_mood_domain"
      case aName = "a_name"
      case aNested = "a_nested"
      case aNumeric = "a_numeric"
      case aNumrange = "a_numrange"
      case aOid = "a_oid"
      case aPath = "a_path"
      case aPgLsn = "a_pg_lsn"
      case aPoint = "a_point"
      case aPolygon = "a_polygon"
      case aRegclass = "a_regclass"
      case aSpan = "a_span"
      case aTags = "a_tags"
      case aText = "a_text"
      case aTime = "a_time"
      case aTimestamp = "a_timestamp"
      case aTimestamptz = "a_timestamptz"
      case aTimetz = "a_timetz"
      case aTsquery = "a_tsquery"
      case aTstzrange = "a_tstzrange"
      case aTsvector = "a_tsvector"
      case aUuid = "a_uuid"
      case aVarbit = "a_varbit"
      case aVarchar = "a_varchar"
      case aXml = "a_xml"
      case byDefault = "by_default"
      case id = "id"
      case serialBig = "serial_big"
      case serialSmall = "serial_small"
    }
  }
  internal struct ArraysSelect: Codable, Hashable, Sendable {
    internal let addresses: [AddressSelect]?
    internal let bools: [Bool]?
    internal let bytes: [String]?
    internal let emails: [EmailSelect]?
    internal let id: UUID
    internal let ints: [Int32]
    internal let ints2: [Int32]?
    internal let jsons: [AnyJSON]
    internal let moods: [Mood]
    internal let ranges: [Int4rangeSelect]?
    internal let texts: [String]?
    internal let uuids: [UUID]?
    internal enum CodingKeys: String, CodingKey {
      case addresses = "addresses"
      case bools = "bools"
      case bytes = "bytes"
      case emails = "emails"
      case id = "id"
      case ints = "ints"
      case ints2 = "ints2"
      case jsons = "jsons"
      case moods = "moods"
      case ranges = "ranges"
      case texts = "texts"
      case uuids = "uuids"
    }
  }
  internal struct ArraysInsert: Codable, Hashable, Sendable {
    internal let addresses: [AddressSelect]?
    internal let bools: [Bool]?
    internal let bytes: [String]?
    internal let emails: [EmailSelect]?
    internal let id: UUID?
    internal let ints: [Int32]
    internal let ints2: [Int32]?
    internal let jsons: [AnyJSON]
    internal let moods: [Mood]?
    internal let ranges: [Int4rangeSelect]?
    internal let texts: [String]?
    internal let uuids: [UUID]?
    internal enum CodingKeys: String, CodingKey {
      case addresses = "addresses"
      case bools = "bools"
      case bytes = "bytes"
      case emails = "emails"
      case id = "id"
      case ints = "ints"
      case ints2 = "ints2"
      case jsons = "jsons"
      case moods = "moods"
      case ranges = "ranges"
      case texts = "texts"
      case uuids = "uuids"
    }
  }
  internal struct ArraysUpdate: Codable, Hashable, Sendable {
    internal let addresses: [AddressSelect]?
    internal let bools: [Bool]?
    internal let bytes: [String]?
    internal let emails: [EmailSelect]?
    internal let id: UUID?
    internal let ints: [Int32]?
    internal let ints2: [Int32]?
    internal let jsons: [AnyJSON]?
    internal let moods: [Mood]?
    internal let ranges: [Int4rangeSelect]?
    internal let texts: [String]?
    internal let uuids: [UUID]?
    internal enum CodingKeys: String, CodingKey {
      case addresses = "addresses"
      case bools = "bools"
      case bytes = "bytes"
      case emails = "emails"
      case id = "id"
      case ints = "ints"
      case ints2 = "ints2"
      case jsons = "jsons"
      case moods = "moods"
      case ranges = "ranges"
      case texts = "texts"
      case uuids = "uuids"
    }
  }
  internal struct ChildSelect: Codable, Hashable, Sendable {
    internal let extra: Int32?
    internal let id: Int32
    internal let name: String
    internal enum CodingKeys: String, CodingKey {
      case extra = "extra"
      case id = "id"
      case name = "name"
    }
  }
  internal struct ChildInsert: Codable, Hashable, Sendable {
    internal let extra: Int32?
    internal let id: Int32
    internal let name: String
    internal enum CodingKeys: String, CodingKey {
      case extra = "extra"
      case id = "id"
      case name = "name"
    }
  }
  internal struct ChildUpdate: Codable, Hashable, Sendable {
    internal let extra: Int32?
    internal let id: Int32?
    internal let name: String?
    internal enum CodingKeys: String, CodingKey {
      case extra = "extra"
      case id = "id"
      case name = "name"
    }
  }
  internal struct CommentsOnlySelect: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let note: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case note = "note"
    }
  }
  internal struct CommentsOnlyInsert: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let note: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case note = "note"
    }
  }
  internal struct CommentsOnlyUpdate: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let note: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case note = "note"
    }
  }
  internal struct NoColumnsSelect: Codable, Hashable, Sendable {
  }
  internal struct NoColumnsInsert: Codable, Hashable, Sendable {
  }
  internal struct NoColumnsUpdate: Codable, Hashable, Sendable {
  }
  internal struct NullabilitySelect: Codable, Hashable, Sendable, Identifiable {
    internal var id: Int32 { identityAlways }
    internal let generatedRequired: Int32
    internal let generatedStored: String?
    internal let identityAlways: Int32
    internal let optionalDefault: String?
    internal let optionalPlain: String?
    internal let pkPartA: Int32
    internal let pkPartB: String
    internal let requiredDefault: String
    internal let requiredDomain: EmailSelect
    internal let requiredJson: AnyJSON
    internal let requiredPlain: String
    internal let requiredUnknown: TsvectorSelect
    internal enum CodingKeys: String, CodingKey {
      case generatedRequired = "generated_required"
      case generatedStored = "generated_stored"
      case identityAlways = "identity_always"
      case optionalDefault = "optional_default"
      case optionalPlain = "optional_plain"
      case pkPartA = "pk_part_a"
      case pkPartB = "pk_part_b"
      case requiredDefault = "required_default"
      case requiredDomain = "required_domain"
      case requiredJson = "required_json"
      case requiredPlain = "required_plain"
      case requiredUnknown = "required_unknown"
    }
  }
  internal struct NullabilityInsert: Codable, Hashable, Sendable, Identifiable {
    internal var id: Int32? { identityAlways }
    internal let generatedRequired: Int32?
    internal let generatedStored: String?
    internal let identityAlways: Int32?
    internal let optionalDefault: String?
    internal let optionalPlain: String?
    internal let pkPartA: Int32
    internal let pkPartB: String
    internal let requiredDefault: String?
    internal let requiredDomain: EmailSelect
    internal let requiredJson: AnyJSON
    internal let requiredPlain: String
    internal let requiredUnknown: TsvectorSelect
    internal enum CodingKeys: String, CodingKey {
      case generatedRequired = "generated_required"
      case generatedStored = "generated_stored"
      case identityAlways = "identity_always"
      case optionalDefault = "optional_default"
      case optionalPlain = "optional_plain"
      case pkPartA = "pk_part_a"
      case pkPartB = "pk_part_b"
      case requiredDefault = "required_default"
      case requiredDomain = "required_domain"
      case requiredJson = "required_json"
      case requiredPlain = "required_plain"
      case requiredUnknown = "required_unknown"
    }
  }
  internal struct NullabilityUpdate: Codable, Hashable, Sendable, Identifiable {
    internal var id: Int32? { identityAlways }
    internal let generatedRequired: Int32?
    internal let generatedStored: String?
    internal let identityAlways: Int32?
    internal let optionalDefault: String?
    internal let optionalPlain: String?
    internal let pkPartA: Int32?
    internal let pkPartB: String?
    internal let requiredDefault: String?
    internal let requiredDomain: EmailSelect?
    internal let requiredJson: AnyJSON?
    internal let requiredPlain: String?
    internal let requiredUnknown: TsvectorSelect?
    internal enum CodingKeys: String, CodingKey {
      case generatedRequired = "generated_required"
      case generatedStored = "generated_stored"
      case identityAlways = "identity_always"
      case optionalDefault = "optional_default"
      case optionalPlain = "optional_plain"
      case pkPartA = "pk_part_a"
      case pkPartB = "pk_part_b"
      case requiredDefault = "required_default"
      case requiredDomain = "required_domain"
      case requiredJson = "required_json"
      case requiredPlain = "required_plain"
      case requiredUnknown = "required_unknown"
    }
  }
  internal struct ParentSelect: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let name: String
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case name = "name"
    }
  }
  internal struct ParentInsert: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let name: String
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case name = "name"
    }
  }
  internal struct ParentUpdate: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let name: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case name = "name"
    }
  }
  internal struct PartedSelect: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let region: String
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case region = "region"
    }
  }
  internal struct PartedInsert: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let region: String
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case region = "region"
    }
  }
  internal struct PartedUpdate: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let region: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case region = "region"
    }
  }
  internal struct PartedEuSelect: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let region: String
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case region = "region"
    }
  }
  internal struct PartedEuInsert: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let region: String
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case region = "region"
    }
  }
  internal struct PartedEuUpdate: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let region: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case region = "region"
    }
  }
  internal struct UnloggedOneSelect: Codable, Hashable, Sendable {
    internal let id: Int32
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
    }
  }
  internal struct UnloggedOneInsert: Codable, Hashable, Sendable {
    internal let id: Int32
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
    }
  }
  internal struct UnloggedOneUpdate: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
    }
  }
  internal struct WeirdNamesSuchSelect: Codable, Hashable, Sendable {
    internal let Proto: String?
    internal let Under: String?
    internal let Dollar: String?
    internal let 1st: Int32?
    internal let apostropheS: String?
    internal let backSlash: String?
    internal let class: String?
    internal let constructor: String?
    internal let function: String?
    internal let id: Int32
    internal let null: String?
    internal let quoteD: String?
    internal let select: String?
    internal let NCD: String?
    internal let upper: String?
    internal let withSpace: String
    internal let withDash: String?
    internal let withDot: String?
    internal enum CodingKeys: String, CodingKey {
      case Proto = "__proto__"
      case Under = "_under"
      case Dollar = "$dollar"
      case 1st = "1st"
      case apostropheS = "apostrophe's"
      case backSlash = "back\\slash"
      case class = "class"
      case constructor = "constructor"
      case function = "function"
      case id = "id"
      case null = "null"
      case quoteD = "quote\"d"
      case select = "select"
      case NCD = "ünïcødé"
      case upper = "UPPER"
      case withSpace = "with space"
      case withDash = "with-dash"
      case withDot = "with.dot"
    }
  }
  internal struct WeirdNamesSuchInsert: Codable, Hashable, Sendable {
    internal let Proto: String?
    internal let Under: String?
    internal let Dollar: String?
    internal let 1st: Int32?
    internal let apostropheS: String?
    internal let backSlash: String?
    internal let class: String?
    internal let constructor: String?
    internal let function: String?
    internal let id: Int32
    internal let null: String?
    internal let quoteD: String?
    internal let select: String?
    internal let NCD: String?
    internal let upper: String?
    internal let withSpace: String
    internal let withDash: String?
    internal let withDot: String?
    internal enum CodingKeys: String, CodingKey {
      case Proto = "__proto__"
      case Under = "_under"
      case Dollar = "$dollar"
      case 1st = "1st"
      case apostropheS = "apostrophe's"
      case backSlash = "back\\slash"
      case class = "class"
      case constructor = "constructor"
      case function = "function"
      case id = "id"
      case null = "null"
      case quoteD = "quote\"d"
      case select = "select"
      case NCD = "ünïcødé"
      case upper = "UPPER"
      case withSpace = "with space"
      case withDash = "with-dash"
      case withDot = "with.dot"
    }
  }
  internal struct WeirdNamesSuchUpdate: Codable, Hashable, Sendable {
    internal let Proto: String?
    internal let Under: String?
    internal let Dollar: String?
    internal let 1st: Int32?
    internal let apostropheS: String?
    internal let backSlash: String?
    internal let class: String?
    internal let constructor: String?
    internal let function: String?
    internal let id: Int32?
    internal let null: String?
    internal let quoteD: String?
    internal let select: String?
    internal let NCD: String?
    internal let upper: String?
    internal let withSpace: String?
    internal let withDash: String?
    internal let withDot: String?
    internal enum CodingKeys: String, CodingKey {
      case Proto = "__proto__"
      case Under = "_under"
      case Dollar = "$dollar"
      case 1st = "1st"
      case apostropheS = "apostrophe's"
      case backSlash = "back\\slash"
      case class = "class"
      case constructor = "constructor"
      case function = "function"
      case id = "id"
      case null = "null"
      case quoteD = "quote\"d"
      case select = "select"
      case NCD = "ünïcødé"
      case upper = "UPPER"
      case withSpace = "with space"
      case withDash = "with-dash"
      case withDot = "with.dot"
    }
  }
  internal struct Address: Codable, Hashable, Sendable {
    internal let Street: String
    internal let PostalCode: AnyJSON
    internal let Lines: AnyJSON
    internal let Mood: Mood
    internal let Since: String
    internal enum CodingKeys: String, CodingKey {
      case Street = "street"
      case PostalCode = "postal code"
      case Lines = "lines"
      case Mood = "mood"
      case Since = "since"
    }
  }
  internal struct Nested: Codable, Hashable, Sendable {
    internal let Home: AddressSelect
    internal let Others: AnyJSON
    internal let At: PointSelect
    internal enum CodingKeys: String, CodingKey {
      case Home = "home"
      case Others = "others"
      case At = "at"
    }
  }
}
