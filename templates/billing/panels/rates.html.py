BBBB BBBB BBBBBB
 #

BB BBBBBBBBB
  XXXX XXXXXXXXXXXXXXXXXX XXXXXXXXXXXXX
    XXXXXX XXXXXXXXXXXXX
      XXXXXXX
        BBB BBB BB BBBBBBBBB
          XXX XXXXXXXXXXFFFFFFFFFFFFFFFFFXX
            XXX XXXXXXXXXXXX XXXXXXXFFFFFFFFFFXX
              BB BBBBBBB
                XX XXXXXXXXFFFFFFFFFFXXXX
              BBBB
                FFFFFFFFFF
              BBBBB
            XXXXX
            XXX XXXXXXXXXX XXXXXXXX
               npgettext(u'number of things', u'%(n)s job', u'%(n)s jobs',count) 
                SSSSS SSS
              
                PPPPP PPPP
              
            XXXXX
            XXX XXXXXXXXXXXX
              XXXXXXXXX XXXXXXX
                        XXXXXXXFFFFFFFFFFFFFFFFFX
                        XXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
            XXXXX
            XXX XXXXXXXXXXXXFFFFFFFXXXXX
          XXXXX
        BBBBBB
      XXXXXXXX
    XXXXXXXX
  XXXXXX
BBBB
  XX XXXXXXXXXXX XXXXX XXXXXXX gettext(u'No job ended in this time.') XXXX
BBBBB
