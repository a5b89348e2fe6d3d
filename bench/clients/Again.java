import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;

/** Runs the main method of one tool after another in one Java machine, which the first ones have warmed up.
 *  A line of standard input is a class and its arguments; when it is through, a line "done" follows. */
public class Again {
    public static void main(String[] nothing) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.trim().split(" ");
            Class.forName(words[0])
                .getMethod("main", String[].class)
                .invoke(null, (Object) Arrays.copyOfRange(words, 1, words.length));
            System.out.println("done");
            System.out.flush();
        }
    }
}
