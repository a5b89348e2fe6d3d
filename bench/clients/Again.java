import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Runs the main method of one tool after another in one Java machine, which the first ones have warmed up.
 *  A line of standard input is how many times at once, a class and its arguments; when all are through, a line
 *  "done" follows. */
public class Again {
    public static void main(String[] nothing) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.trim().split(" ");
            Method tool = Class.forName(words[1]).getMethod("main", String[].class);
            String[] arguments = Arrays.copyOfRange(words, 2, words.length);
            int together = Integer.parseInt(words[0]);
            List<Thread> others = new ArrayList<>();
            for (int other = 1; other < together; other++) {
                others.add(new Thread(() -> run(tool, arguments)));
            }
            others.forEach(Thread::start);
            run(tool, arguments);
            for (Thread other : others) {
                other.join();
            }
            System.out.println("done");
            System.out.flush();
        }
    }

    private static void run(Method tool, String[] arguments) {
        try {
            tool.invoke(null, (Object) arguments.clone());
        } catch (ReflectiveOperationException failed) {
            failed.printStackTrace();
        }
    }
}
