BBBB BBBB BBBBBB
 #

BB BBBB
  XXXX XXXXXXXXXXXX
       XXXXXXXXXXXXXXXXX
       XXXXXXXXXXXX pgettext(u'spoken label', u'How to connect') XX
    BBB B BB BBBB
      XXXXXXX
        XXX
          XXXXXX XXXXXXXXXXXX
                 XXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXX
                 BB BBBBBB BB BBBXXXXXXXBBBBBX
          FFFFFFFFFF
        XXXX
        XXXXXXFFFFFFFFFFXXXXXXX
      XXXXXXXX
    BBBBBB
  XXXXXX
BBBBB
