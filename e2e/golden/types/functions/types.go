package database

type PublicPeopleSelect struct {
  BossId    *int32  `json:"boss_id"`
  FirstName string  `json:"first_name"`
  Id        int32   `json:"id"`
  LastName  *string `json:"last_name"`
}

type PublicPeopleInsert struct {
  BossId    *int32  `json:"boss_id"`
  FirstName string  `json:"first_name"`
  Id        int32   `json:"id"`
  LastName  *string `json:"last_name"`
}

type PublicPeopleUpdate struct {
  BossId    *int32  `json:"boss_id"`
  FirstName *string `json:"first_name"`
  Id        *int32  `json:"id"`
  LastName  *string `json:"last_name"`
}

type PublicPetsSelect struct {
  Id      int32  `json:"id"`
  Name    string `json:"name"`
  OwnerId int32  `json:"owner_id"`
}

type PublicPetsInsert struct {
  Id      int32  `json:"id"`
  Name    string `json:"name"`
  OwnerId int32  `json:"owner_id"`
}

type PublicPetsUpdate struct {
  Id      *int32  `json:"id"`
  Name    *string `json:"name"`
  OwnerId *int32  `json:"owner_id"`
}

type PublicPeopleViewSelect struct {
  FirstName *string `json:"first_name"`
  Id        *int32  `json:"id"`
}



type PublicPoint3 struct {
  X interface{} `json:"x"`
  Y interface{} `json:"y"`
  Z interface{} `json:"z"`
}
