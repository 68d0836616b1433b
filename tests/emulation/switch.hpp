// Switching between stacks. swapcontext makes system calls, which would take most of an emulated kernel's time, so that
// x86-64 has its own implementation.
#pragma once

#include <cstddef>
#include <cstdint>

#ifndef __x86_64__
#include <ucontext.h>
#endif

namespace wfacli_emulation {

#ifdef __x86_64__

struct Context {
  void* stack_pointer = nullptr;
};

extern "C" void wfacli_switch_stack(void** from, void* to);
// Saves the callee-saved registers on the old stack, restores them from the new one, and returns there.
asm(R"(
.text
.type wfacli_switch_stack, @function
wfacli_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size wfacli_switch_stack, .-wfacli_switch_stack
)");

inline void switch_context(Context& from, Context& to) { wfacli_switch_stack(&from.stack_pointer, to.stack_pointer); }

inline void begin_context(Context& context, char* stack, std::size_t bytes, void (*entry)()) {
  auto* top = reinterpret_cast<std::uint64_t*>(stack + bytes);
  *--top = 0;  // the stack is aligned as after a call; entry never returns
  *--top = reinterpret_cast<std::uint64_t>(entry);
  for (int saved = 0; saved < 6; ++saved) *--top = 0;
  context.stack_pointer = top;
}

#else

using Context = ucontext_t;

inline void switch_context(Context& from, Context& to) { swapcontext(&from, &to); }

inline void begin_context(Context& context, char* stack, std::size_t bytes, void (*entry)()) {
  getcontext(&context);
  context.uc_stack.ss_sp = stack;
  context.uc_stack.ss_size = bytes;
  context.uc_link = nullptr;
  makecontext(&context, entry, 0);
}

#endif

}  // namespace wfacli_emulation
