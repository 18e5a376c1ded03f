package database

type PublicCycleASelect struct {
  B  *int32 `json:"b"`
  Id int32  `json:"id"`
}

type PublicCycleAInsert struct {
  B  *int32 `json:"b"`
  Id int32  `json:"id"`
}

type PublicCycleAUpdate struct {
  B  *int32 `json:"b"`
  Id *int32 `json:"id"`
}

type PublicCycleBSelect struct {
  A  *int32 `json:"a"`
  Id int32  `json:"id"`
}

type PublicCycleBInsert struct {
  A  *int32 `json:"a"`
  Id int32  `json:"id"`
}

type PublicCycleBUpdate struct {
  A  *int32 `json:"a"`
  Id *int32 `json:"id"`
}

type PublicIndexUniqueSelect struct {
  Id     int32   `json:"id"`
  UserId *string `json:"user_id"`
}

type PublicIndexUniqueInsert struct {
  Id     int32   `json:"id"`
  UserId *string `json:"user_id"`
}

type PublicIndexUniqueUpdate struct {
  Id     *int32  `json:"id"`
  UserId *string `json:"user_id"`
}

type PublicMeasurementsSelect struct {
  At      string `json:"at"`
  Station int32  `json:"station"`
}

type PublicMeasurementsInsert struct {
  At      string `json:"at"`
  Station int32  `json:"station"`
}

type PublicMeasurementsUpdate struct {
  At      *string `json:"at"`
  Station *int32  `json:"station"`
}

type PublicMeasurements2026Select struct {
  At      string `json:"at"`
  Station int32  `json:"station"`
}

type PublicMeasurements2026Insert struct {
  At      string `json:"at"`
  Station int32  `json:"station"`
}

type PublicMeasurements2026Update struct {
  At      *string `json:"at"`
  Station *int32  `json:"station"`
}

type PublicNotValidFkSelect struct {
  Id  int32  `json:"id"`
  Tag *int32 `json:"tag"`
}

type PublicNotValidFkInsert struct {
  Id  int32  `json:"id"`
  Tag *int32 `json:"tag"`
}

type PublicNotValidFkUpdate struct {
  Id  *int32 `json:"id"`
  Tag *int32 `json:"tag"`
}

type PublicPartialUniqueSelect struct {
  Active *bool   `json:"active"`
  Id     int32   `json:"id"`
  UserId *string `json:"user_id"`
}

type PublicPartialUniqueInsert struct {
  Active *bool   `json:"active"`
  Id     int32   `json:"id"`
  UserId *string `json:"user_id"`
}

type PublicPartialUniqueUpdate struct {
  Active *bool   `json:"active"`
  Id     *int32  `json:"id"`
  UserId *string `json:"user_id"`
}

type PublicPlanDetailsSelect struct {
  Code    string  `json:"code"`
  Company int32   `json:"company"`
  Detail  *string `json:"detail"`
}

type PublicPlanDetailsInsert struct {
  Code    string  `json:"code"`
  Company int32   `json:"company"`
  Detail  *string `json:"detail"`
}

type PublicPlanDetailsUpdate struct {
  Code    *string `json:"code"`
  Company *int32  `json:"company"`
  Detail  *string `json:"detail"`
}

type PublicPlanPartUniqueSelect struct {
  Code    *string `json:"code"`
  Company *int32  `json:"company"`
}

type PublicPlanPartUniqueInsert struct {
  Code    *string `json:"code"`
  Company *int32  `json:"company"`
}

type PublicPlanPartUniqueUpdate struct {
  Code    *string `json:"code"`
  Company *int32  `json:"company"`
}

type PublicPlanReorderedSelect struct {
  ACompany *int32  `json:"a_company"`
  BCode    *string `json:"b_code"`
  Id       int32   `json:"id"`
}

type PublicPlanReorderedInsert struct {
  ACompany *int32  `json:"a_company"`
  BCode    *string `json:"b_code"`
  Id       int32   `json:"id"`
}

type PublicPlanReorderedUpdate struct {
  ACompany *int32  `json:"a_company"`
  BCode    *string `json:"b_code"`
  Id       *int32  `json:"id"`
}

type PublicPlansSelect struct {
  Code    string  `json:"code"`
  Company int32   `json:"company"`
  Price   float64 `json:"price"`
}

type PublicPlansInsert struct {
  Code    string  `json:"code"`
  Company int32   `json:"company"`
  Price   float64 `json:"price"`
}

type PublicPlansUpdate struct {
  Code    *string  `json:"code"`
  Company *int32   `json:"company"`
  Price   *float64 `json:"price"`
}

type PublicPostTagsSelect struct {
  AddedBy *string `json:"added_by"`
  PostId  int64   `json:"post_id"`
  TagId   int32   `json:"tag_id"`
}

type PublicPostTagsInsert struct {
  AddedBy *string `json:"added_by"`
  PostId  int64   `json:"post_id"`
  TagId   int32   `json:"tag_id"`
}

type PublicPostTagsUpdate struct {
  AddedBy *string `json:"added_by"`
  PostId  *int64  `json:"post_id"`
  TagId   *int32  `json:"tag_id"`
}

type PublicPostsSelect struct {
  AuthorId      string  `json:"author_id"`
  EditorId      *string `json:"editor_id"`
  Id            int64   `json:"id"`
  ParentId      *int64  `json:"parent_id"`
  ReviewerEmail *string `json:"reviewer_email"`
  Title         string  `json:"title"`
}

type PublicPostsInsert struct {
  AuthorId      string  `json:"author_id"`
  EditorId      *string `json:"editor_id"`
  Id            *int64  `json:"id"`
  ParentId      *int64  `json:"parent_id"`
  ReviewerEmail *string `json:"reviewer_email"`
  Title         string  `json:"title"`
}

type PublicPostsUpdate struct {
  AuthorId      *string `json:"author_id"`
  EditorId      *string `json:"editor_id"`
  Id            *int64  `json:"id"`
  ParentId      *int64  `json:"parent_id"`
  ReviewerEmail *string `json:"reviewer_email"`
  Title         *string `json:"title"`
}

type PublicProfilesSelect struct {
  Bio    *string `json:"bio"`
  UserId string  `json:"user_id"`
}

type PublicProfilesInsert struct {
  Bio    *string `json:"bio"`
  UserId string  `json:"user_id"`
}

type PublicProfilesUpdate struct {
  Bio    *string `json:"bio"`
  UserId *string `json:"user_id"`
}

type PublicSettingsSelect struct {
  Id     int64  `json:"id"`
  Theme  string `json:"theme"`
  UserId string `json:"user_id"`
}

type PublicSettingsInsert struct {
  Id     *int64  `json:"id"`
  Theme  *string `json:"theme"`
  UserId string  `json:"user_id"`
}

type PublicSettingsUpdate struct {
  Id     *int64  `json:"id"`
  Theme  *string `json:"theme"`
  UserId *string `json:"user_id"`
}

type PublicSettingsNullableOneSelect struct {
  Id     int32   `json:"id"`
  UserId *string `json:"user_id"`
}

type PublicSettingsNullableOneInsert struct {
  Id     int32   `json:"id"`
  UserId *string `json:"user_id"`
}

type PublicSettingsNullableOneUpdate struct {
  Id     *int32  `json:"id"`
  UserId *string `json:"user_id"`
}

type PublicStationsSelect struct {
  Id int32 `json:"id"`
}

type PublicStationsInsert struct {
  Id int32 `json:"id"`
}

type PublicStationsUpdate struct {
  Id *int32 `json:"id"`
}

type PublicSubscriptionsSelect struct {
  Company         int32   `json:"company"`
  Id              int32   `json:"id"`
  PlanCode        string  `json:"plan_code"`
  PreviousCode    *string `json:"previous_code"`
  PreviousCompany *int32  `json:"previous_company"`
}

type PublicSubscriptionsInsert struct {
  Company         int32   `json:"company"`
  Id              int32   `json:"id"`
  PlanCode        string  `json:"plan_code"`
  PreviousCode    *string `json:"previous_code"`
  PreviousCompany *int32  `json:"previous_company"`
}

type PublicSubscriptionsUpdate struct {
  Company         *int32  `json:"company"`
  Id              *int32  `json:"id"`
  PlanCode        *string `json:"plan_code"`
  PreviousCode    *string `json:"previous_code"`
  PreviousCompany *int32  `json:"previous_company"`
}

type PublicTagsSelect struct {
  Id   int32  `json:"id"`
  Name string `json:"name"`
}

type PublicTagsInsert struct {
  Id   int32  `json:"id"`
  Name string `json:"name"`
}

type PublicTagsUpdate struct {
  Id   *int32  `json:"id"`
  Name *string `json:"name"`
}

type PublicTwiceSelect struct {
  Id  int32  `json:"id"`
  Tag *int32 `json:"tag"`
}

type PublicTwiceInsert struct {
  Id  int32  `json:"id"`
  Tag *int32 `json:"tag"`
}

type PublicTwiceUpdate struct {
  Id  *int32 `json:"id"`
  Tag *int32 `json:"tag"`
}

type PublicUsersSelect struct {
  Email  string `json:"email"`
  Handle string `json:"handle"`
  Id     string `json:"id"`
}

type PublicUsersInsert struct {
  Email  string  `json:"email"`
  Handle string  `json:"handle"`
  Id     *string `json:"id"`
}

type PublicUsersUpdate struct {
  Email  *string `json:"email"`
  Handle *string `json:"handle"`
  Id     *string `json:"id"`
}

type PublicPostListSelect struct {
  AuthorEmail *string `json:"author_email"`
  AuthorId    *string `json:"author_id"`
  Id          *int64  `json:"id"`
  Title       *string `json:"title"`
}

type PublicUserNamesSelect struct {
  Handle *string `json:"handle"`
  Id     *string `json:"id"`
}
