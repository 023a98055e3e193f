package io.github.ratelimit.spring.method;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.Handle;
import org.springframework.asm.Label;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;
import org.springframework.util.ClassUtils;

/**
 * Finds calls of methods with {@code @RateLimited} that their own object makes, which no
 * proxy sees, in the class files of a bean's class and those that it extends. Only what
 * is certainly such a call is found, and nothing where there is no class file to read.
 */
final class SelfInvocations {

	private static final Logger logger = LoggerFactory.getLogger(SelfInvocations.class);

	private final Class<?> type;

	private final Collection<RateLimitedOperation> operations;

	/** The class, and those that it extends, from below. */
	private final List<Class<?>> classes;

	private final Set<String> found = new TreeSet<>();

	private SelfInvocations(Class<?> type, Collection<RateLimitedOperation> operations) {
		this.type = type;
		this.operations = operations;
		this.classes = Stream
			.<Class<?>>iterate(type, (each) -> each != null && each != Object.class, Class::getSuperclass)
			.toList();
	}

	/**
	 * Returns the calls of a class.
	 * @return the names of the methods with those of their callers, sorted
	 */
	static Set<String> find(Class<?> type, Collection<RateLimitedOperation> operations) {
		SelfInvocations invocations = new SelfInvocations(type, operations);
		if (operations.stream().anyMatch(RateLimitedOperation::onMethod)) {
			invocations.classes.forEach(invocations::read);
		}
		return invocations.found;
	}

	private void read(Class<?> owner) {
		try (InputStream file = owner.getResourceAsStream(ClassUtils.getClassFileName(owner))) {
			if (file != null) {
				new ClassReader(file).accept(new Callers(owner), ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
			}
		}
		catch (IOException | RuntimeException | LinkageError ex) {
			// Not a class file, or one of a Java that is newer than Spring.
			logger.debug("The class file of {} cannot be read", owner.getName(), ex);
		}
	}

	/**
	 * Returns what limits the method that an instruction names; null if nothing does but
	 * its class. That limits calls that come from outside, which have paid by then.
	 */
	private @Nullable RateLimitedOperation callee(int opcode, String owner, String name, String descriptor) {
		Class<?> named = this.classes.stream()
			.filter((each) -> Type.getInternalName(each).equals(owner))
			.findFirst()
			.orElse(null);
		return (named == null) ? null
				: this.operations.stream()
					.filter((operation) -> operation.onMethod() && operation.method().getName().equals(name)
							&& Type.getMethodDescriptor(operation.method()).equals(descriptor))
					// What is called on super is not what overrides it.
					.filter((operation) -> opcode != Opcodes.INVOKESPECIAL
							|| operation.method().getDeclaringClass().isAssignableFrom(named))
					.findFirst()
					.orElse(null);
	}

	/** Whether another method stands in the place of the caller. */
	private boolean isOverridden(Class<?> owner, String caller) {
		return this.classes.stream()
			.takeWhile((below) -> below != owner)
			.flatMap((below) -> Arrays.stream(below.getDeclaredMethods()))
			.anyMatch((method) -> method.getName().equals(caller));
	}

	/** Whether who calls the caller has paid to the same policies already. */
	private boolean hasPaid(String caller, RateLimitedOperation callee) {
		return policies(this.operations.stream().filter((operation) -> operation.method().getName().equals(caller)))
			.containsAll(policies(Stream.of(callee)));
	}

	private static Set<String> policies(Stream<RateLimitedOperation> operations) {
		return operations.flatMap((operation) -> operation.uses().stream())
			.map((use) -> use.policy().policy().name())
			.collect(Collectors.toSet());
	}

	/** Reads the methods of a class that have an object. */
	private final class Callers extends ClassVisitor {

		private final Class<?> owner;

		Callers(Class<?> owner) {
			super(SpringAsmInfo.ASM_VERSION);
			this.owner = owner;
		}

		@Override
		public @Nullable MethodVisitor visitMethod(int access, String name, String descriptor,
				@Nullable String signature, String @Nullable [] exceptions) {
			String caller = name.startsWith("lambda$") ? name.substring(7, Math.max(7, name.lastIndexOf('$'))) : name;
			return ((access & (Opcodes.ACC_STATIC | Opcodes.ACC_BRIDGE)) != 0 || isOverridden(this.owner, caller))
					? null : new Calls(caller, descriptor);
		}

	}

	/**
	 * Reads the instructions of a method. A call is one of its own object where it is
	 * made on super, where nothing stands between the object and the call, and where the
	 * method meets no other value that could be the object that is called.
	 */
	private final class Calls extends MethodVisitor {

		private final String caller;

		/** Types of all values that the method meets. */
		private final Set<Type> values = new HashSet<>();

		private final Set<RateLimitedOperation> certain = new LinkedHashSet<>();

		private final Set<RateLimitedOperation> possible = new LinkedHashSet<>();

		private boolean isThis;

		Calls(String caller, String descriptor) {
			super(SpringAsmInfo.ASM_VERSION);
			this.caller = caller;
			this.values.addAll(List.of(Type.getArgumentTypes(descriptor)));
		}

		@Override
		public void visitVarInsn(int opcode, int variable) {
			this.isThis = opcode == Opcodes.ALOAD && variable == 0;
		}

		@Override
		public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
			RateLimitedOperation callee = (opcode != Opcodes.INVOKESTATIC) ? callee(opcode, owner, name, descriptor)
					: null;
			if (callee != null) {
				boolean isCertain = opcode == Opcodes.INVOKESPECIAL
						|| (this.isThis && callee.method().getParameterCount() == 0);
				(isCertain ? this.certain : this.possible).add(callee);
			}
			meet(Type.getReturnType(descriptor));
		}

		@Override
		public void visitInvokeDynamicInsn(String name, String descriptor, Handle factory, Object... arguments) {
			for (Object argument : arguments) {
				if (argument instanceof Handle handle && this.isThis && Type.getArgumentTypes(descriptor).length == 1) {
					RateLimitedOperation callee = callee(Opcodes.INVOKEVIRTUAL, handle.getOwner(), handle.getName(),
							handle.getDesc());
					if (callee != null) {
						this.certain.add(callee);
					}
				}
			}
			meet(Type.getReturnType(descriptor));
		}

		@Override
		public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
			meet(Type.getType(descriptor));
		}

		@Override
		public void visitTypeInsn(int opcode, String type) {
			meet(Type.getObjectType(type));
		}

		@Override
		public void visitInsn(int opcode) {
			this.isThis = false;
		}

		@Override
		public void visitIntInsn(int opcode, int operand) {
			this.isThis = false;
		}

		@Override
		public void visitLdcInsn(Object value) {
			this.isThis = false;
		}

		@Override
		public void visitJumpInsn(int opcode, Label label) {
			this.isThis = false;
		}

		/** Another value may be there as well, which comes from elsewhere. */
		@Override
		public void visitLabel(Label label) {
			this.isThis = false;
		}

		@Override
		public void visitEnd() {
			if (!this.possible.isEmpty() && this.values.stream().noneMatch(SelfInvocations.this::mayBeOfType)) {
				this.certain.addAll(this.possible);
			}
			this.certain.stream()
				.filter((callee) -> !hasPaid(this.caller, callee))
				.forEach((callee) -> SelfInvocations.this.found.add("%s (from %s)".formatted(callee.method().getName(),
						this.caller.equals("<init>") ? "the constructor" : this.caller)));
		}

		private void meet(Type value) {
			this.isThis = false;
			this.values.add(value);
		}

	}

	/** Whether a value may be of one of the classes; so also where that is not known. */
	private boolean mayBeOfType(Type value) {
		Type element = (value.getSort() == Type.ARRAY) ? value.getElementType() : value;
		if (element.getSort() != Type.OBJECT) {
			return false;
		}
		try {
			Class<?> other = ClassUtils.forName(element.getClassName(), this.type.getClassLoader());
			return this.classes.stream().anyMatch((each) -> each.isAssignableFrom(other));
		}
		catch (ClassNotFoundException | LinkageError ex) {
			return true;
		}
	}

}
