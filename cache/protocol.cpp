#include "cache/protocol.h"

#include <hiredis/hiredis.h>

#include <array>
#include <new>
#include <utility>
#include <vector>

#include "safety/base/check.h"

namespace han::cache {
namespace {

struct FormattedDeleter {
  void operator()(char* formatted) const { redisFreeCommand(formatted); }
};

struct ReaderDeleter {
  void operator()(redisReader* reader) const { redisReaderFree(reader); }
};

// The parser builds our own Reply through these: an element is a place in its parent's vector, only
// the top of a reply is an allocation of its own. No exception may cross the C code: null means
// that there was no memory.
Reply* place_of(const redisReadTask* task) {
  if (task->parent == nullptr) return new (std::nothrow) Reply;
  auto* parent = static_cast<Reply*>(task->parent->obj);
  return &parent->elements[static_cast<std::size_t>(task->idx)];
}

void* create_string(const redisReadTask* task, char* text, std::size_t size) noexcept {
  Reply* reply = place_of(task);
  if (reply == nullptr) return nullptr;
  const std::string_view view(text, size);
  if (task->type == REDIS_REPLY_ERROR) {
    reply->kind = Reply::Kind::kError;
    reply->error = classify_error(view);
    return reply;
  }
  reply->kind = task->type == REDIS_REPLY_STATUS ? Reply::Kind::kStatus : Reply::Kind::kBulk;
  reply->text.assign(view);
  return reply;
}

// hiredis 0.14 counts in int, later versions in size_t.
template <typename Size>
void* create_array(const redisReadTask* task, Size size) noexcept {
  Reply* reply = place_of(task);
  if (reply == nullptr) return nullptr;
  reply->kind = Reply::Kind::kArray;
  reply->elements.resize(static_cast<std::size_t>(size));
  return reply;
}

void* create_integer(const redisReadTask* task, long long value) noexcept {
  Reply* reply = place_of(task);
  if (reply == nullptr) return nullptr;
  reply->kind = Reply::Kind::kInteger;
  reply->integer = value;
  return reply;
}

void* create_nil(const redisReadTask* task) noexcept { return place_of(task); }

void free_object(void* top) noexcept { delete static_cast<Reply*>(top); }

redisReplyObjectFunctions reply_functions() {
  redisReplyObjectFunctions functions{};
  functions.createString = create_string;
  functions.createArray = create_array;
  functions.createInteger = create_integer;
  functions.createNil = create_nil;
  functions.freeObject = free_object;
  return functions;
}

}  // namespace

void CommandBuffer::add(std::span<const std::string_view> arguments) {
  constexpr std::size_t kInlineArguments = 8;
  std::array<const char*, kInlineArguments> few_texts;
  std::array<std::size_t, kInlineArguments> few_sizes;
  std::vector<const char*> many_texts;
  std::vector<std::size_t> many_sizes;
  const char** texts = few_texts.data();
  std::size_t* sizes = few_sizes.data();
  if (arguments.size() > kInlineArguments) {
    many_texts.resize(arguments.size());
    many_sizes.resize(arguments.size());
    texts = many_texts.data();
    sizes = many_sizes.data();
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    texts[i] = arguments[i].data();
    sizes[i] = arguments[i].size();
  }
  char* formatted = nullptr;
  const auto size =
      redisFormatCommandArgv(&formatted, static_cast<int>(arguments.size()), texts, sizes);
  SAFETY_CHECK(size > 0);
  const std::unique_ptr<char, FormattedDeleter> owned(formatted);
  bytes_.append(formatted, static_cast<std::size_t>(size));
  ++count_;
}

struct ReplyReader::Impl {
  explicit Impl(const ReplyLimits& limits) : frame(limits), functions(reply_functions()) {
    // By default a buffer of more than 16 KiB is freed after each batch, and allocated anew.
    constexpr std::size_t kIdleBufferBytesMax = 256 * 1024;
    reader.reset(redisReaderCreateWithFunctions(&functions));
    SAFETY_CHECK(reader != nullptr);
    reader->maxbuf = kIdleBufferBytesMax;
  }

  FrameCheck frame;
  // Borrowed by the reader for its life.
  redisReplyObjectFunctions functions;
  std::unique_ptr<redisReader, ReaderDeleter> reader;
  std::string checked;
  std::uint64_t taken = 0;
  bool is_broken = false;
};

ReplyReader::ReplyReader(const ReplyLimits& limits) : impl_(std::make_unique<Impl>(limits)) {}
ReplyReader::~ReplyReader() = default;
ReplyReader::ReplyReader(ReplyReader&&) noexcept = default;
ReplyReader& ReplyReader::operator=(ReplyReader&&) noexcept = default;

bool ReplyReader::feed(std::string_view bytes) {
  if (impl_->is_broken) return false;
  impl_->checked.clear();
  const bool is_good = impl_->frame.check(bytes, impl_->checked) &&
                       redisReaderFeed(impl_->reader.get(), impl_->checked.data(),
                                       impl_->checked.size()) == REDIS_OK;
  impl_->is_broken = !is_good;
  return is_good;
}

ReplyReader::Outcome ReplyReader::next(Reply& reply) {
  if (impl_->is_broken) return Outcome::kBroken;
  if (impl_->taken == impl_->frame.reply_count()) return Outcome::kNeedsMore;
  void* raw = nullptr;
  const bool is_good = redisReaderGetReply(impl_->reader.get(), &raw) == REDIS_OK;
  const std::unique_ptr<Reply> owned(static_cast<Reply*>(raw));
  if (!is_good || owned == nullptr) {
    impl_->is_broken = true;
    return Outcome::kBroken;
  }
  reply = std::move(*owned);
  ++impl_->taken;
  return Outcome::kReply;
}

bool ReplyReader::is_drained() const {
  return !impl_->is_broken && impl_->frame.is_at_boundary() &&
         impl_->taken == impl_->frame.reply_count();
}

}  // namespace han::cache
