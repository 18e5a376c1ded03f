package database

type PublicAllTypesSelect struct {
  AAddress        map[string]interface{} `json:"a_address"`
  ABit            interface{}            `json:"a_bit"`
  ABool           *bool                  `json:"a_bool"`
  ABox            interface{}            `json:"a_box"`
  ABytea          []byte                 `json:"a_bytea"`
  AChar           *string                `json:"a_char"`
  AChar1          interface{}            `json:"a_char1"`
  ACidr           interface{}            `json:"a_cidr"`
  ACircle         interface{}            `json:"a_circle"`
  ADate           *string                `json:"a_date"`
  AEmail          *string                `json:"a_email"`
  AEmpty          interface{}            `json:"a_empty"`
  AFloat4         *float32               `json:"a_float4"`
  AFloat8         *float64               `json:"a_float8"`
  AInet           interface{}            `json:"a_inet"`
  AInt2           *int16                 `json:"a_int2"`
  AInt4           *int32                 `json:"a_int4"`
  AInt4multirange *string                `json:"a_int4multirange"`
  AInt4range      *string                `json:"a_int4range"`
  AInt8           *int64                 `json:"a_int8"`
  AInterval       *string                `json:"a_interval"`
  AJson           interface{}            `json:"a_json"`
  AJsonb          interface{}            `json:"a_jsonb"`
  AJsonpath       interface{}            `json:"a_jsonpath"`
  ALine           interface{}            `json:"a_line"`
  ALseg           interface{}            `json:"a_lseg"`
  AMacaddr        interface{}            `json:"a_macaddr"`
  AMacaddr8       interface{}            `json:"a_macaddr8"`
  AMixed          *string                `json:"a_mixed"`
  AMoney          interface{}            `json:"a_money"`
  AMood           *string                `json:"a_mood"`
  AMoodDomain     *string                `json:"a_mood_domain"`
  AName           interface{}            `json:"a_name"`
  ANested         map[string]interface{} `json:"a_nested"`
  ANumeric        *float64               `json:"a_numeric"`
  ANumrange       *string                `json:"a_numrange"`
  AOid            interface{}            `json:"a_oid"`
  APath           interface{}            `json:"a_path"`
  APgLsn          interface{}            `json:"a_pg_lsn"`
  APoint          interface{}            `json:"a_point"`
  APolygon        interface{}            `json:"a_polygon"`
  ARegclass       interface{}            `json:"a_regclass"`
  ASpan           interface{}            `json:"a_span"`
  ATags           []*string              `json:"a_tags"`
  AText           *string                `json:"a_text"`
  ATime           *string                `json:"a_time"`
  ATimestamp      *string                `json:"a_timestamp"`
  ATimestamptz    *string                `json:"a_timestamptz"`
  ATimetz         *string                `json:"a_timetz"`
  ATsquery        interface{}            `json:"a_tsquery"`
  ATstzrange      *string                `json:"a_tstzrange"`
  ATsvector       interface{}            `json:"a_tsvector"`
  AUuid           *string                `json:"a_uuid"`
  AVarbit         interface{}            `json:"a_varbit"`
  AVarchar        *string                `json:"a_varchar"`
  AXml            interface{}            `json:"a_xml"`
  ByDefault       int32                  `json:"by_default"`
  Id              int64                  `json:"id"`
  SerialBig       int64                  `json:"serial_big"`
  SerialSmall     int16                  `json:"serial_small"`
}

type PublicAllTypesInsert struct {
  AAddress        map[string]interface{} `json:"a_address"`
  ABit            interface{}            `json:"a_bit"`
  ABool           *bool                  `json:"a_bool"`
  ABox            interface{}            `json:"a_box"`
  ABytea          []byte                 `json:"a_bytea"`
  AChar           *string                `json:"a_char"`
  AChar1          interface{}            `json:"a_char1"`
  ACidr           interface{}            `json:"a_cidr"`
  ACircle         interface{}            `json:"a_circle"`
  ADate           *string                `json:"a_date"`
  AEmail          *string                `json:"a_email"`
  AEmpty          interface{}            `json:"a_empty"`
  AFloat4         *float32               `json:"a_float4"`
  AFloat8         *float64               `json:"a_float8"`
  AInet           interface{}            `json:"a_inet"`
  AInt2           *int16                 `json:"a_int2"`
  AInt4           *int32                 `json:"a_int4"`
  AInt4multirange *string                `json:"a_int4multirange"`
  AInt4range      *string                `json:"a_int4range"`
  AInt8           *int64                 `json:"a_int8"`
  AInterval       *string                `json:"a_interval"`
  AJson           interface{}            `json:"a_json"`
  AJsonb          interface{}            `json:"a_jsonb"`
  AJsonpath       interface{}            `json:"a_jsonpath"`
  ALine           interface{}            `json:"a_line"`
  ALseg           interface{}            `json:"a_lseg"`
  AMacaddr        interface{}            `json:"a_macaddr"`
  AMacaddr8       interface{}            `json:"a_macaddr8"`
  AMixed          *string                `json:"a_mixed"`
  AMoney          interface{}            `json:"a_money"`
  AMood           *string                `json:"a_mood"`
  AMoodDomain     *string                `json:"a_mood_domain"`
  AName           interface{}            `json:"a_name"`
  ANested         map[string]interface{} `json:"a_nested"`
  ANumeric        *float64               `json:"a_numeric"`
  ANumrange       *string                `json:"a_numrange"`
  AOid            interface{}            `json:"a_oid"`
  APath           interface{}            `json:"a_path"`
  APgLsn          interface{}            `json:"a_pg_lsn"`
  APoint          interface{}            `json:"a_point"`
  APolygon        interface{}            `json:"a_polygon"`
  ARegclass       interface{}            `json:"a_regclass"`
  ASpan           interface{}            `json:"a_span"`
  ATags           []*string              `json:"a_tags"`
  AText           *string                `json:"a_text"`
  ATime           *string                `json:"a_time"`
  ATimestamp      *string                `json:"a_timestamp"`
  ATimestamptz    *string                `json:"a_timestamptz"`
  ATimetz         *string                `json:"a_timetz"`
  ATsquery        interface{}            `json:"a_tsquery"`
  ATstzrange      *string                `json:"a_tstzrange"`
  ATsvector       interface{}            `json:"a_tsvector"`
  AUuid           *string                `json:"a_uuid"`
  AVarbit         interface{}            `json:"a_varbit"`
  AVarchar        *string                `json:"a_varchar"`
  AXml            interface{}            `json:"a_xml"`
  ByDefault       *int32                 `json:"by_default"`
  Id              *int64                 `json:"id"`
  SerialBig       *int64                 `json:"serial_big"`
  SerialSmall     *int16                 `json:"serial_small"`
}

type PublicAllTypesUpdate struct {
  AAddress        map[string]interface{} `json:"a_address"`
  ABit            interface{}            `json:"a_bit"`
  ABool           *bool                  `json:"a_bool"`
  ABox            interface{}            `json:"a_box"`
  ABytea          []byte                 `json:"a_bytea"`
  AChar           *string                `json:"a_char"`
  AChar1          interface{}            `json:"a_char1"`
  ACidr           interface{}            `json:"a_cidr"`
  ACircle         interface{}            `json:"a_circle"`
  ADate           *string                `json:"a_date"`
  AEmail          *string                `json:"a_email"`
  AEmpty          interface{}            `json:"a_empty"`
  AFloat4         *float32               `json:"a_float4"`
  AFloat8         *float64               `json:"a_float8"`
  AInet           interface{}            `json:"a_inet"`
  AInt2           *int16                 `json:"a_int2"`
  AInt4           *int32                 `json:"a_int4"`
  AInt4multirange *string                `json:"a_int4multirange"`
  AInt4range      *string                `json:"a_int4range"`
  AInt8           *int64                 `json:"a_int8"`
  AInterval       *string                `json:"a_interval"`
  AJson           interface{}            `json:"a_json"`
  AJsonb          interface{}            `json:"a_jsonb"`
  AJsonpath       interface{}            `json:"a_jsonpath"`
  ALine           interface{}            `json:"a_line"`
  ALseg           interface{}            `json:"a_lseg"`
  AMacaddr        interface{}            `json:"a_macaddr"`
  AMacaddr8       interface{}            `json:"a_macaddr8"`
  AMixed          *string                `json:"a_mixed"`
  AMoney          interface{}            `json:"a_money"`
  AMood           *string                `json:"a_mood"`
  AMoodDomain     *string                `json:"a_mood_domain"`
  AName           interface{}            `json:"a_name"`
  ANested         map[string]interface{} `json:"a_nested"`
  ANumeric        *float64               `json:"a_numeric"`
  ANumrange       *string                `json:"a_numrange"`
  AOid            interface{}            `json:"a_oid"`
  APath           interface{}            `json:"a_path"`
  APgLsn          interface{}            `json:"a_pg_lsn"`
  APoint          interface{}            `json:"a_point"`
  APolygon        interface{}            `json:"a_polygon"`
  ARegclass       interface{}            `json:"a_regclass"`
  ASpan           interface{}            `json:"a_span"`
  ATags           []*string              `json:"a_tags"`
  AText           *string                `json:"a_text"`
  ATime           *string                `json:"a_time"`
  ATimestamp      *string                `json:"a_timestamp"`
  ATimestamptz    *string                `json:"a_timestamptz"`
  ATimetz         *string                `json:"a_timetz"`
  ATsquery        interface{}            `json:"a_tsquery"`
  ATstzrange      *string                `json:"a_tstzrange"`
  ATsvector       interface{}            `json:"a_tsvector"`
  AUuid           *string                `json:"a_uuid"`
  AVarbit         interface{}            `json:"a_varbit"`
  AVarchar        *string                `json:"a_varchar"`
  AXml            interface{}            `json:"a_xml"`
  ByDefault       *int32                 `json:"by_default"`
  Id              *int64                 `json:"id"`
  SerialBig       *int64                 `json:"serial_big"`
  SerialSmall     *int16                 `json:"serial_small"`
}

type PublicArraysSelect struct {
  Addresses []map[string]interface{}  `json:"addresses"`
  Bools     []*bool                   `json:"bools"`
  Bytes     [][]byte                  `json:"bytes"`
  Emails    []interface{}             `json:"emails"`
  Id        string                    `json:"id"`
  Ints      []int32                   `json:"ints"`
  Ints2     []*int32                  `json:"ints2"`
  Jsons     []interface{}             `json:"jsons"`
  Moods     []string                  `json:"moods"`
  Ranges    []*string                 `json:"ranges"`
  Texts     []*string                 `json:"texts"`
  Uuids     []*string                 `json:"uuids"`
}

type PublicArraysInsert struct {
  Addresses []map[string]interface{}  `json:"addresses"`
  Bools     []*bool                   `json:"bools"`
  Bytes     [][]byte                  `json:"bytes"`
  Emails    []interface{}             `json:"emails"`
  Id        *string                   `json:"id"`
  Ints      []int32                   `json:"ints"`
  Ints2     []*int32                  `json:"ints2"`
  Jsons     []interface{}             `json:"jsons"`
  Moods     []*string                 `json:"moods"`
  Ranges    []*string                 `json:"ranges"`
  Texts     []*string                 `json:"texts"`
  Uuids     []*string                 `json:"uuids"`
}

type PublicArraysUpdate struct {
  Addresses []map[string]interface{}  `json:"addresses"`
  Bools     []*bool                   `json:"bools"`
  Bytes     [][]byte                  `json:"bytes"`
  Emails    []interface{}             `json:"emails"`
  Id        *string                   `json:"id"`
  Ints      []*int32                  `json:"ints"`
  Ints2     []*int32                  `json:"ints2"`
  Jsons     []interface{}             `json:"jsons"`
  Moods     []*string                 `json:"moods"`
  Ranges    []*string                 `json:"ranges"`
  Texts     []*string                 `json:"texts"`
  Uuids     []*string                 `json:"uuids"`
}

type PublicChildSelect struct {
  Extra *int32 `json:"extra"`
  Id    int32  `json:"id"`
  Name  string `json:"name"`
}

type PublicChildInsert struct {
  Extra *int32 `json:"extra"`
  Id    int32  `json:"id"`
  Name  string `json:"name"`
}

type PublicChildUpdate struct {
  Extra *int32  `json:"extra"`
  Id    *int32  `json:"id"`
  Name  *string `json:"name"`
}

type PublicCommentsOnlySelect struct {
  Id   *int32  `json:"id"`
  Note *string `json:"note"`
}

type PublicCommentsOnlyInsert struct {
  Id   *int32  `json:"id"`
  Note *string `json:"note"`
}

type PublicCommentsOnlyUpdate struct {
  Id   *int32  `json:"id"`
  Note *string `json:"note"`
}

type PublicNoColumnsSelect struct {

}

type PublicNoColumnsInsert struct {

}

type PublicNoColumnsUpdate struct {

}

type PublicNullabilitySelect struct {
  GeneratedRequired int32       `json:"generated_required"`
  GeneratedStored   *string     `json:"generated_stored"`
  IdentityAlways    int32       `json:"identity_always"`
  OptionalDefault   *string     `json:"optional_default"`
  OptionalPlain     *string     `json:"optional_plain"`
  PkPartA           int32       `json:"pk_part_a"`
  PkPartB           string      `json:"pk_part_b"`
  RequiredDefault   string      `json:"required_default"`
  RequiredDomain    interface{} `json:"required_domain"`
  RequiredJson      interface{} `json:"required_json"`
  RequiredPlain     string      `json:"required_plain"`
  RequiredUnknown   interface{} `json:"required_unknown"`
}

type PublicNullabilityInsert struct {
  GeneratedRequired *int32      `json:"generated_required"`
  GeneratedStored   *string     `json:"generated_stored"`
  IdentityAlways    *int32      `json:"identity_always"`
  OptionalDefault   *string     `json:"optional_default"`
  OptionalPlain     *string     `json:"optional_plain"`
  PkPartA           int32       `json:"pk_part_a"`
  PkPartB           string      `json:"pk_part_b"`
  RequiredDefault   *string     `json:"required_default"`
  RequiredDomain    interface{} `json:"required_domain"`
  RequiredJson      interface{} `json:"required_json"`
  RequiredPlain     string      `json:"required_plain"`
  RequiredUnknown   interface{} `json:"required_unknown"`
}

type PublicNullabilityUpdate struct {
  GeneratedRequired *int32      `json:"generated_required"`
  GeneratedStored   *string     `json:"generated_stored"`
  IdentityAlways    *int32      `json:"identity_always"`
  OptionalDefault   *string     `json:"optional_default"`
  OptionalPlain     *string     `json:"optional_plain"`
  PkPartA           *int32      `json:"pk_part_a"`
  PkPartB           *string     `json:"pk_part_b"`
  RequiredDefault   *string     `json:"required_default"`
  RequiredDomain    interface{} `json:"required_domain"`
  RequiredJson      interface{} `json:"required_json"`
  RequiredPlain     *string     `json:"required_plain"`
  RequiredUnknown   interface{} `json:"required_unknown"`
}

type PublicParentSelect struct {
  Id   int32  `json:"id"`
  Name string `json:"name"`
}

type PublicParentInsert struct {
  Id   int32  `json:"id"`
  Name string `json:"name"`
}

type PublicParentUpdate struct {
  Id   *int32  `json:"id"`
  Name *string `json:"name"`
}

type PublicPartedSelect struct {
  Id     int32  `json:"id"`
  Region string `json:"region"`
}

type PublicPartedInsert struct {
  Id     int32  `json:"id"`
  Region string `json:"region"`
}

type PublicPartedUpdate struct {
  Id     *int32  `json:"id"`
  Region *string `json:"region"`
}

type PublicPartedEuSelect struct {
  Id     int32  `json:"id"`
  Region string `json:"region"`
}

type PublicPartedEuInsert struct {
  Id     int32  `json:"id"`
  Region string `json:"region"`
}

type PublicPartedEuUpdate struct {
  Id     *int32  `json:"id"`
  Region *string `json:"region"`
}

type PublicUnloggedOneSelect struct {
  Id int32 `json:"id"`
}

type PublicUnloggedOneInsert struct {
  Id int32 `json:"id"`
}

type PublicUnloggedOneUpdate struct {
  Id *int32 `json:"id"`
}

type PublicWeirdNamesSuchSelect struct {
  Proto       *string `json:"__proto__"`
  Under       *string `json:"_under"`
  Dollar      *string `json:"$dollar"`
  1st         *int32  `json:"1st"`
  ApostropheS *string `json:"apostrophe's"`
  BackSlash   *string `json:"back\\slash"`
  Class       *string `json:"class"`
  Constructor *string `json:"constructor"`
  Function    *string `json:"function"`
  Id          int32   `json:"id"`
  Null        *string `json:"null"`
  QuoteD      *string `json:"quote\"d"`
  Select      *string `json:"select"`
  NCD         *string `json:"ünïcødé"`
  UPPER       *string `json:"UPPER"`
  WithSpace   string  `json:"with space"`
  WithDash    *string `json:"with-dash"`
  WithDot     *string `json:"with.dot"`
}

type PublicWeirdNamesSuchInsert struct {
  Proto       *string `json:"__proto__"`
  Under       *string `json:"_under"`
  Dollar      *string `json:"$dollar"`
  1st         *int32  `json:"1st"`
  ApostropheS *string `json:"apostrophe's"`
  BackSlash   *string `json:"back\\slash"`
  Class       *string `json:"class"`
  Constructor *string `json:"constructor"`
  Function    *string `json:"function"`
  Id          int32   `json:"id"`
  Null        *string `json:"null"`
  QuoteD      *string `json:"quote\"d"`
  Select      *string `json:"select"`
  NCD         *string `json:"ünïcødé"`
  UPPER       *string `json:"UPPER"`
  WithSpace   string  `json:"with space"`
  WithDash    *string `json:"with-dash"`
  WithDot     *string `json:"with.dot"`
}

type PublicWeirdNamesSuchUpdate struct {
  Proto       *string `json:"__proto__"`
  Under       *string `json:"_under"`
  Dollar      *string `json:"$dollar"`
  1st         *int32  `json:"1st"`
  ApostropheS *string `json:"apostrophe's"`
  BackSlash   *string `json:"back\\slash"`
  Class       *string `json:"class"`
  Constructor *string `json:"constructor"`
  Function    *string `json:"function"`
  Id          *int32  `json:"id"`
  Null        *string `json:"null"`
  QuoteD      *string `json:"quote\"d"`
  Select      *string `json:"select"`
  NCD         *string `json:"ünïcødé"`
  UPPER       *string `json:"UPPER"`
  WithSpace   *string `json:"with space"`
  WithDash    *string `json:"with-dash"`
  WithDot     *string `json:"with.dot"`
}





type PublicAddress struct {
  Street     string      `json:"street"`
  PostalCode interface{} `json:"postal code"`
  Lines      interface{} `json:"lines"`
  Mood       interface{} `json:"mood"`
  Since      string      `json:"since"`
}

type PublicNested struct {
  Home   interface{} `json:"home"`
  Others interface{} `json:"others"`
  At     interface{} `json:"at"`
}
