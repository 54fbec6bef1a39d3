#include "pgqueue/wire.h"

#include <gtest/gtest.h>

#include <string>

namespace han::pgqueue {

using namespace std::string_literals;

TEST(Wire, IntegersAreInNetworkByteOrder) {
  EXPECT_EQ(Param::int2(0x0102).bytes(), "\x01\x02"s);
  EXPECT_EQ(Param::int4(-2).bytes(), "\xFF\xFF\xFF\xFE"s);
  EXPECT_EQ(Param::int8(1).bytes(), "\0\0\0\0\0\0\0\1"s);
  EXPECT_EQ(Param::boolean(true).bytes(), "\1"s);
}

TEST(Wire, AnArrayCarriesItsDimensionAndElements) {
  ArrayParam array(Oid::kText, 2);
  array.add(std::string_view("ab")).add_null();
  EXPECT_EQ(array.build().type(), Oid::kTextArray);
  EXPECT_EQ(array.build().bytes(),
            "\0\0\0\1\0\0\0\1\0\0\0\x19\0\0\0\2\0\0\0\1\0\0\0\2ab\xFF\xFF\xFF\xFF"s);
}

TEST(Wire, AnEmptyArrayHasNoDimension) {
  EXPECT_EQ(ArrayParam(Oid::kUuid, 0).build().bytes(), "\0\0\0\0\0\0\0\0\0\0\x0B\x86"s);
}

TEST(Wire, ANullKeepsItsType) {
  const Param null = Param::null(Oid::kInt8Array);
  EXPECT_TRUE(null.is_null());
  EXPECT_EQ(null.type(), Oid::kInt8Array);
}

TEST(Wire, AnArrayWithoutValuesCanBeNullAsAWhole) {
  ArrayParam array(Oid::kInt8, 2);
  EXPECT_TRUE(array.add_null().build_or_null().is_null());
  EXPECT_EQ(array.build_or_null().type(), Oid::kInt8Array);
  EXPECT_FALSE(array.build().is_null());
  array.add(std::int64_t{7});
  EXPECT_FALSE(array.build_or_null().is_null());
  EXPECT_EQ(array.build_or_null().bytes(), array.build().bytes());
}

}  // namespace han::pgqueue
