BBBB BBBB
 #
 #

XXXX XXXXXXXXXXXXXX
  BB BBBBBBBBBB
    XXXXXXX XXXXXXXXXXX
      
    XXXXXXXXX
  BBBB BBBBBBB
    BB BBBBBBBBBBB
      BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBB
    BBBBB
    BB BBBBBBBBBBB
      XXX XXXXXXXXXXXXX XXXXXXX
        BBB BBB BB BBBBBB
          XXXX
            XX XXXXXXXXXXXXX XXXXXXX
            XX XXXXXXXXXXXX
          XXXXX
        BBBBBB
      XXXXX
      XX XXXXXXXXXXXX XXXXXXX
         ngettext(u'Curves of the first run of the table.', u'Curves of the first %(n)s runs of the table. Filter or sort it to see others.', count) 
          SSSSSS SS SSS SSSSS SSS SS SSS SSSSSS
        
          PPPPPP PP PPP PPPPP PPPPP PPPP PP PPP PPPPPP PPPPPP PP PPPP PP PP PPP PPPPPPP
        
      XXXX
      XXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXX
                XXXXXXXXXXXXXXXXX
                XXXXXXXXXXXXXXXXXXXXXXXXXXXX
        XX XXXXXXXXXXXXXX gettext(u'These runs have no curves.') XXXX
      XXXXXXXXXXX
    BBBB
      XXXXXXXX XXXXXXX pgettext(u'empty list', u'No curves yet') X
               XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX XXXXX XXXXXXXXX
         gettext(u'Curves appear here as soon as the program logs its first metric.') 
      XXXXXXXXXX
    BBBBB
  BBBB
    XXXXXXXX XXXXXXX pgettext(u'empty list', u'No runs to draw') X
             XXXXXXXXXXXXXXXXXXX
       gettext(u'Charts of parameters and metrics appear here with the first run.') 
    XXXXXXXXXX
  BBBBB
XXXXXX
