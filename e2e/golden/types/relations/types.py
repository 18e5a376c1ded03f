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



class PublicCycleA(BaseModel):
    b: Optional[int] = Field(alias="b")
    id: int = Field(alias="id")

class PublicCycleAInsert(TypedDict):
    b: NotRequired[Annotated[Optional[int], Field(alias="b")]]
    id: Annotated[int, Field(alias="id")]

class PublicCycleAUpdate(TypedDict):
    b: NotRequired[Annotated[Optional[int], Field(alias="b")]]
    id: NotRequired[Annotated[int, Field(alias="id")]]

class PublicCycleB(BaseModel):
    a: Optional[int] = Field(alias="a")
    id: int = Field(alias="id")

class PublicCycleBInsert(TypedDict):
    a: NotRequired[Annotated[Optional[int], Field(alias="a")]]
    id: Annotated[int, Field(alias="id")]

class PublicCycleBUpdate(TypedDict):
    a: NotRequired[Annotated[Optional[int], Field(alias="a")]]
    id: NotRequired[Annotated[int, Field(alias="id")]]

class PublicIndexUnique(BaseModel):
    id: int = Field(alias="id")
    user_id: Optional[uuid.UUID] = Field(alias="user_id")

class PublicIndexUniqueInsert(TypedDict):
    id: Annotated[int, Field(alias="id")]
    user_id: NotRequired[Annotated[Optional[uuid.UUID], Field(alias="user_id")]]

class PublicIndexUniqueUpdate(TypedDict):
    id: NotRequired[Annotated[int, Field(alias="id")]]
    user_id: NotRequired[Annotated[Optional[uuid.UUID], Field(alias="user_id")]]

class PublicMeasurements(BaseModel):
    at: datetime.date = Field(alias="at")
    station: int = Field(alias="station")

class PublicMeasurementsInsert(TypedDict):
    at: Annotated[datetime.date, Field(alias="at")]
    station: Annotated[int, Field(alias="station")]

class PublicMeasurementsUpdate(TypedDict):
    at: NotRequired[Annotated[datetime.date, Field(alias="at")]]
    station: NotRequired[Annotated[int, Field(alias="station")]]

class PublicMeasurements2026(BaseModel):
    at: datetime.date = Field(alias="at")
    station: int = Field(alias="station")

class PublicMeasurements2026Insert(TypedDict):
    at: Annotated[datetime.date, Field(alias="at")]
    station: Annotated[int, Field(alias="station")]

class PublicMeasurements2026Update(TypedDict):
    at: NotRequired[Annotated[datetime.date, Field(alias="at")]]
    station: NotRequired[Annotated[int, Field(alias="station")]]

class PublicNotValidFk(BaseModel):
    id: int = Field(alias="id")
    tag: Optional[int] = Field(alias="tag")

class PublicNotValidFkInsert(TypedDict):
    id: Annotated[int, Field(alias="id")]
    tag: NotRequired[Annotated[Optional[int], Field(alias="tag")]]

class PublicNotValidFkUpdate(TypedDict):
    id: NotRequired[Annotated[int, Field(alias="id")]]
    tag: NotRequired[Annotated[Optional[int], Field(alias="tag")]]

class PublicPartialUnique(BaseModel):
    active: Optional[bool] = Field(alias="active")
    id: int = Field(alias="id")
    user_id: Optional[uuid.UUID] = Field(alias="user_id")

class PublicPartialUniqueInsert(TypedDict):
    active: NotRequired[Annotated[Optional[bool], Field(alias="active")]]
    id: Annotated[int, Field(alias="id")]
    user_id: NotRequired[Annotated[Optional[uuid.UUID], Field(alias="user_id")]]

class PublicPartialUniqueUpdate(TypedDict):
    active: NotRequired[Annotated[Optional[bool], Field(alias="active")]]
    id: NotRequired[Annotated[int, Field(alias="id")]]
    user_id: NotRequired[Annotated[Optional[uuid.UUID], Field(alias="user_id")]]

class PublicPlanDetails(BaseModel):
    code: str = Field(alias="code")
    company: int = Field(alias="company")
    detail: Optional[str] = Field(alias="detail")

class PublicPlanDetailsInsert(TypedDict):
    code: Annotated[str, Field(alias="code")]
    company: Annotated[int, Field(alias="company")]
    detail: NotRequired[Annotated[Optional[str], Field(alias="detail")]]

class PublicPlanDetailsUpdate(TypedDict):
    code: NotRequired[Annotated[str, Field(alias="code")]]
    company: NotRequired[Annotated[int, Field(alias="company")]]
    detail: NotRequired[Annotated[Optional[str], Field(alias="detail")]]

class PublicPlanPartUnique(BaseModel):
    code: Optional[str] = Field(alias="code")
    company: Optional[int] = Field(alias="company")

class PublicPlanPartUniqueInsert(TypedDict):
    code: NotRequired[Annotated[Optional[str], Field(alias="code")]]
    company: NotRequired[Annotated[Optional[int], Field(alias="company")]]

class PublicPlanPartUniqueUpdate(TypedDict):
    code: NotRequired[Annotated[Optional[str], Field(alias="code")]]
    company: NotRequired[Annotated[Optional[int], Field(alias="company")]]

class PublicPlanReordered(BaseModel):
    a_company: Optional[int] = Field(alias="a_company")
    b_code: Optional[str] = Field(alias="b_code")
    id: int = Field(alias="id")

class PublicPlanReorderedInsert(TypedDict):
    a_company: NotRequired[Annotated[Optional[int], Field(alias="a_company")]]
    b_code: NotRequired[Annotated[Optional[str], Field(alias="b_code")]]
    id: Annotated[int, Field(alias="id")]

class PublicPlanReorderedUpdate(TypedDict):
    a_company: NotRequired[Annotated[Optional[int], Field(alias="a_company")]]
    b_code: NotRequired[Annotated[Optional[str], Field(alias="b_code")]]
    id: NotRequired[Annotated[int, Field(alias="id")]]

class PublicPlans(BaseModel):
    code: str = Field(alias="code")
    company: int = Field(alias="company")
    price: float = Field(alias="price")

class PublicPlansInsert(TypedDict):
    code: Annotated[str, Field(alias="code")]
    company: Annotated[int, Field(alias="company")]
    price: Annotated[float, Field(alias="price")]

class PublicPlansUpdate(TypedDict):
    code: NotRequired[Annotated[str, Field(alias="code")]]
    company: NotRequired[Annotated[int, Field(alias="company")]]
    price: NotRequired[Annotated[float, Field(alias="price")]]

class PublicPostTags(BaseModel):
    added_by: Optional[uuid.UUID] = Field(alias="added_by")
    post_id: int = Field(alias="post_id")
    tag_id: int = Field(alias="tag_id")

class PublicPostTagsInsert(TypedDict):
    added_by: NotRequired[Annotated[Optional[uuid.UUID], Field(alias="added_by")]]
    post_id: Annotated[int, Field(alias="post_id")]
    tag_id: Annotated[int, Field(alias="tag_id")]

class PublicPostTagsUpdate(TypedDict):
    added_by: NotRequired[Annotated[Optional[uuid.UUID], Field(alias="added_by")]]
    post_id: NotRequired[Annotated[int, Field(alias="post_id")]]
    tag_id: NotRequired[Annotated[int, Field(alias="tag_id")]]

class PublicPosts(BaseModel):
    author_id: uuid.UUID = Field(alias="author_id")
    editor_id: Optional[uuid.UUID] = Field(alias="editor_id")
    id: int = Field(alias="id")
    parent_id: Optional[int] = Field(alias="parent_id")
    reviewer_email: Optional[str] = Field(alias="reviewer_email")
    title: str = Field(alias="title")

class PublicPostsInsert(TypedDict):
    author_id: Annotated[uuid.UUID, Field(alias="author_id")]
    editor_id: NotRequired[Annotated[Optional[uuid.UUID], Field(alias="editor_id")]]
    id: NotRequired[Annotated[int, Field(alias="id")]]
    parent_id: NotRequired[Annotated[Optional[int], Field(alias="parent_id")]]
    reviewer_email: NotRequired[Annotated[Optional[str], Field(alias="reviewer_email")]]
    title: Annotated[str, Field(alias="title")]

class PublicPostsUpdate(TypedDict):
    author_id: NotRequired[Annotated[uuid.UUID, Field(alias="author_id")]]
    editor_id: NotRequired[Annotated[Optional[uuid.UUID], Field(alias="editor_id")]]
    id: NotRequired[Annotated[int, Field(alias="id")]]
    parent_id: NotRequired[Annotated[Optional[int], Field(alias="parent_id")]]
    reviewer_email: NotRequired[Annotated[Optional[str], Field(alias="reviewer_email")]]
    title: NotRequired[Annotated[str, Field(alias="title")]]

class PublicProfiles(BaseModel):
    bio: Optional[str] = Field(alias="bio")
    user_id: uuid.UUID = Field(alias="user_id")

class PublicProfilesInsert(TypedDict):
    bio: NotRequired[Annotated[Optional[str], Field(alias="bio")]]
    user_id: Annotated[uuid.UUID, Field(alias="user_id")]

class PublicProfilesUpdate(TypedDict):
    bio: NotRequired[Annotated[Optional[str], Field(alias="bio")]]
    user_id: NotRequired[Annotated[uuid.UUID, Field(alias="user_id")]]

class PublicSettings(BaseModel):
    id: int = Field(alias="id")
    theme: str = Field(alias="theme")
    user_id: uuid.UUID = Field(alias="user_id")

class PublicSettingsInsert(TypedDict):
    id: NotRequired[Annotated[int, Field(alias="id")]]
    theme: NotRequired[Annotated[str, Field(alias="theme")]]
    user_id: Annotated[uuid.UUID, Field(alias="user_id")]

class PublicSettingsUpdate(TypedDict):
    id: NotRequired[Annotated[int, Field(alias="id")]]
    theme: NotRequired[Annotated[str, Field(alias="theme")]]
    user_id: NotRequired[Annotated[uuid.UUID, Field(alias="user_id")]]

class PublicSettingsNullableOne(BaseModel):
    id: int = Field(alias="id")
    user_id: Optional[uuid.UUID] = Field(alias="user_id")

class PublicSettingsNullableOneInsert(TypedDict):
    id: Annotated[int, Field(alias="id")]
    user_id: NotRequired[Annotated[Optional[uuid.UUID], Field(alias="user_id")]]

class PublicSettingsNullableOneUpdate(TypedDict):
    id: NotRequired[Annotated[int, Field(alias="id")]]
    user_id: NotRequired[Annotated[Optional[uuid.UUID], Field(alias="user_id")]]

class PublicStations(BaseModel):
    id: int = Field(alias="id")

class PublicStationsInsert(TypedDict):
    id: Annotated[int, Field(alias="id")]

class PublicStationsUpdate(TypedDict):
    id: NotRequired[Annotated[int, Field(alias="id")]]

class PublicSubscriptions(BaseModel):
    company: int = Field(alias="company")
    id: int = Field(alias="id")
    plan_code: str = Field(alias="plan_code")
    previous_code: Optional[str] = Field(alias="previous_code")
    previous_company: Optional[int] = Field(alias="previous_company")

class PublicSubscriptionsInsert(TypedDict):
    company: Annotated[int, Field(alias="company")]
    id: Annotated[int, Field(alias="id")]
    plan_code: Annotated[str, Field(alias="plan_code")]
    previous_code: NotRequired[Annotated[Optional[str], Field(alias="previous_code")]]
    previous_company: NotRequired[Annotated[Optional[int], Field(alias="previous_company")]]

class PublicSubscriptionsUpdate(TypedDict):
    company: NotRequired[Annotated[int, Field(alias="company")]]
    id: NotRequired[Annotated[int, Field(alias="id")]]
    plan_code: NotRequired[Annotated[str, Field(alias="plan_code")]]
    previous_code: NotRequired[Annotated[Optional[str], Field(alias="previous_code")]]
    previous_company: NotRequired[Annotated[Optional[int], Field(alias="previous_company")]]

class PublicTags(BaseModel):
    id: int = Field(alias="id")
    name: str = Field(alias="name")

class PublicTagsInsert(TypedDict):
    id: Annotated[int, Field(alias="id")]
    name: Annotated[str, Field(alias="name")]

class PublicTagsUpdate(TypedDict):
    id: NotRequired[Annotated[int, Field(alias="id")]]
    name: NotRequired[Annotated[str, Field(alias="name")]]

class PublicTwice(BaseModel):
    id: int = Field(alias="id")
    tag: Optional[int] = Field(alias="tag")

class PublicTwiceInsert(TypedDict):
    id: Annotated[int, Field(alias="id")]
    tag: NotRequired[Annotated[Optional[int], Field(alias="tag")]]

class PublicTwiceUpdate(TypedDict):
    id: NotRequired[Annotated[int, Field(alias="id")]]
    tag: NotRequired[Annotated[Optional[int], Field(alias="tag")]]

class PublicUsers(BaseModel):
    email: str = Field(alias="email")
    handle: str = Field(alias="handle")
    id: uuid.UUID = Field(alias="id")

class PublicUsersInsert(TypedDict):
    email: Annotated[str, Field(alias="email")]
    handle: Annotated[str, Field(alias="handle")]
    id: NotRequired[Annotated[uuid.UUID, Field(alias="id")]]

class PublicUsersUpdate(TypedDict):
    email: NotRequired[Annotated[str, Field(alias="email")]]
    handle: NotRequired[Annotated[str, Field(alias="handle")]]
    id: NotRequired[Annotated[uuid.UUID, Field(alias="id")]]

class PublicPostList(BaseModel):
    author_email: Optional[str] = Field(alias="author_email")
    author_id: Optional[uuid.UUID] = Field(alias="author_id")
    id: Optional[int] = Field(alias="id")
    title: Optional[str] = Field(alias="title")

class PublicUserNames(BaseModel):
    handle: Optional[str] = Field(alias="handle")
    id: Optional[uuid.UUID] = Field(alias="id")
